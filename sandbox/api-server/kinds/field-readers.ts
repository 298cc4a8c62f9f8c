import type { FieldReaders } from '#sandbox/api-server/selectors/field-query.ts';
import { fieldsAt, listAt, scalarText, textAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';

/** Reads text, numbers and truth values below a path; absent is empty text. */
function at(...path: readonly string[]): (object: KubeObject) => string {
  const last = path.at(-1) ?? '';
  const way = path.slice(0, -1);
  return (object) => {
    const value = way.reduce<object>((place, name) => fieldsAt(place, name), object) as Record<string, unknown>;
    return scalarText(value[last]);
  };
}

/** A truth value that is false if it is absent. */
function flag(...path: readonly string[]): (object: KubeObject) => string {
  const read = at(...path);
  return (object) => read(object) || 'false';
}

/** `pkg/registry/core/pod/strategy.go` ToSelectableFields. */
export const POD_FIELDS: FieldReaders = {
  'spec.nodeName': at('spec', 'nodeName'),
  'spec.restartPolicy': at('spec', 'restartPolicy'),
  'spec.schedulerName': at('spec', 'schedulerName'),
  'spec.serviceAccountName': at('spec', 'serviceAccountName'),
  'spec.hostNetwork': flag('spec', 'hostNetwork'),
  'status.phase': at('status', 'phase'),
  'status.podIP': at('status', 'podIP'),
  'status.podIPs': (object) =>
    listAt(fieldsAt(object, 'status'), 'podIPs')
      .map((entry) => textAt(entry, 'ip'))
      .join(','),
  'status.nominatedNodeName': at('status', 'nominatedNodeName'),
};

export const NODE_FIELDS: FieldReaders = { 'spec.unschedulable': flag('spec', 'unschedulable') };
export const NAMESPACE_FIELDS: FieldReaders = {
  'status.phase': at('status', 'phase'),
  name: (object) => object.metadata.name,
};
export const SECRET_FIELDS: FieldReaders = { type: at('type') };
export const JOB_FIELDS: FieldReaders = { 'status.successful': at('status', 'succeeded') };
export const REPLICA_SET_FIELDS: FieldReaders = { 'status.replicas': at('status', 'replicas') };

const reporter = (object: KubeObject): string =>
  textAt(object, 'reportingComponent') || textAt(fieldsAt(object, 'source'), 'component');

/** Both groups read the stored core/v1 form; `regarding` is the other name of `involvedObject`. */
export const EVENT_FIELDS: FieldReaders = {
  ...Object.fromEntries(
    ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].flatMap((name) => [
      [`involvedObject.${name}`, at('involvedObject', name)],
      [`regarding.${name}`, at('involvedObject', name)],
    ]),
  ),
  reason: at('reason'),
  type: at('type'),
  source: reporter,
  reportingComponent: reporter,
  reportingController: reporter,
};
