import { durationText } from '#shared/domain/base/texts.ts';

/** Every sentence of `plimsoll disruptions`, to be read from top to bottom. */

export const NOT_SERVED =
  'the API server does not know Disruptions: apply deploy/crds, and set disruptions.record: On in the ' +
  'SchedulerConfiguration of plimsoll-controller';

/** `namespace` is `undefined` for all of them. */
export function noDisruption(namespace: string | undefined): string {
  return (
    `no Disruption found ${inNamespace(namespace)}: no pod was removed there within the days that Disruptions are kept, ` +
    'or the record is off (disruptions.record in the SchedulerConfiguration of plimsoll-controller)'
  );
}

export function noneSelected(
  namespace: string | undefined,
  causes: readonly string[],
  sinceMs: number | undefined,
): string {
  const ofCause = causes.length === 0 ? '' : ` with cause ${causes.join(' or ')}`;
  const since = sinceMs === undefined ? '' : ` in the last ${durationText(sinceMs / 1_000)}`;
  return `no Disruption${ofCause} found ${inNamespace(namespace)}${since}`;
}

function inNamespace(namespace: string | undefined): string {
  return namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`;
}
