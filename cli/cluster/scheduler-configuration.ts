import { parseYaml } from '#shared/runtime/yaml-text.ts';
import { fieldOf, isRecord, itemsOf } from '#shared/kube/decode/wire-object.ts';

/** The kind of a file that configures kube-scheduler. */
export const SCHEDULER_CONFIGURATION = 'KubeSchedulerConfiguration';

/** The profiles of kube-scheduler that a value of a ConfigMap describes; none of a value that describes something else. */
export function schedulerProfiles(text: unknown): readonly unknown[] {
  if (typeof text !== 'string' || !text.includes(SCHEDULER_CONFIGURATION)) return [];
  try {
    return itemsOf(fieldOf(parseYaml(text), 'profiles'));
  } catch {
    return [];
  }
}

/** A ConfigMap reduced to the profiles of kube-scheduler in it; `undefined` if it has none. */
export function onlyProfiles(
  configMap: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  const { data } = configMap;
  const kept = Object.entries(isRecord(data) ? data : {}).flatMap(([key, text]) => {
    const profiles = schedulerProfiles(text).map((profile) => ({
      schedulerName: fieldOf(profile, 'schedulerName'),
      plugins: fieldOf(profile, 'plugins'),
    }));
    return profiles.length === 0 ? [] : [[key, JSON.stringify({ kind: SCHEDULER_CONFIGURATION, profiles })] as const];
  });
  return kept.length === 0 ? undefined : { ...configMap, data: Object.fromEntries(kept) };
}
