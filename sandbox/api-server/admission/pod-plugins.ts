import { fieldsAt, fieldsOf, listAt, textAt, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Attributes } from '#sandbox/api-server/admission.ts';

const TOLERATION_SECONDS = 300;
const DEFAULT_TOLERATIONS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/**
 * What the ServiceAccount and DefaultTolerationSeconds plugins write into a pod; the tolerations also on every update. Tokens are not mounted: the
 * sandbox's node runs processes without volumes.
 */
export function completePod({ type, subresource, operation, object }: Attributes): void {
  if (type.group !== '' || type.plural !== 'pods' || subresource !== '' || object === undefined) return;
  const spec = { ...fieldsAt(object, 'spec') };
  if (operation === 'CREATE' && !isMirror(object)) {
    spec['serviceAccountName'] = textAt(spec, 'serviceAccountName') || 'default';
    spec['serviceAccount'] = spec['serviceAccountName'];
  }
  const tolerations = listAt(spec, 'tolerations');
  const added = DEFAULT_TOLERATIONS.filter((key) => !tolerations.some((toleration) => covers(toleration, key)));
  if (added.length > 0) spec['tolerations'] = [...tolerations, ...added.map(defaultToleration)];
  fieldsOf(object)['spec'] = spec;
}

function isMirror({ metadata }: KubeObject): boolean {
  return metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
}

function covers(toleration: Fields, key: string): boolean {
  const effect = textAt(toleration, 'effect');
  const own = textAt(toleration, 'key');
  return (own === key || own === '') && (effect === 'NoExecute' || effect === '');
}

function defaultToleration(key: string): Fields {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS };
}
