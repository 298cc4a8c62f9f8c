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

export function noneOfCause(namespace: string | undefined, causes: readonly string[]): string {
  return `no Disruption with cause ${causes.join(' or ')} found ${inNamespace(namespace)}`;
}

function inNamespace(namespace: string | undefined): string {
  return namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`;
}
