import { parse } from 'yaml';
import { fieldOf, isRecord, itemsOf } from '#shared/kube/kube-object.ts';
import { CONFIG_MAPS } from '#shared/kube/resource.ts';
import { nameOf, namespaceOf, type Manifest } from '#cli/manifests/manifest.ts';
import type { Finding } from './finding.ts';
import { preemptionDisabled } from './messages.ts';

const PLUGIN = 'DefaultPreemption';
const EXTENSION_POINTS = ['postFilter', 'multiPoint'];

/**
 * Profiles of kube-scheduler that preempt no pod, as far as ConfigMaps hold their configuration; a file on the control
 * plane's own disk cannot be seen. Mechanism S1-22.
 */
export function schedulerFindings(manifests: readonly Manifest[]): readonly Finding[] {
  return manifests.filter(({ kind }) => kind === CONFIG_MAPS.kind).flatMap(configurationFindings);
}

function configurationFindings(manifest: Manifest): readonly Finding[] {
  const data = fieldOf(manifest.raw, 'data');
  if (!isRecord(data)) return [];
  const where = `ConfigMap ${namespaceOf(manifest, '')}/${nameOf(manifest)}`;
  return Object.values(data)
    .map(readConfiguration)
    .flatMap((configuration) => itemsOf(fieldOf(configuration, 'profiles')))
    .filter(isWithoutPreemption)
    .map((profile) => preemptionDisabled(where, nameOfProfile(profile)));
}

/** Most ConfigMaps hold something else. */
function readConfiguration(text: unknown): unknown {
  if (typeof text !== 'string' || !text.includes('KubeSchedulerConfiguration')) return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function isWithoutPreemption(profile: unknown): boolean {
  const plugins = fieldOf(profile, 'plugins');
  const isEnabled = EXTENSION_POINTS.some((point) => names(plugins, point, 'enabled').includes(PLUGIN));
  const isDisabled = EXTENSION_POINTS.some((point) =>
    names(plugins, point, 'disabled').some((name) => name === PLUGIN || name === '*'),
  );
  return isDisabled && !isEnabled;
}

function nameOfProfile(profile: unknown): string {
  const name = fieldOf(profile, 'schedulerName');
  return typeof name === 'string' ? name : 'default-scheduler';
}

function names(plugins: unknown, point: string, list: 'enabled' | 'disabled'): readonly unknown[] {
  return itemsOf(fieldOf(fieldOf(plugins, point), list)).map((item) => fieldOf(item, 'name'));
}
