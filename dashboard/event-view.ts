import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { WireObject } from '#shared/kube/decode/wire-object.ts';
import { decodeObject, readInteger, readObject, readText } from '#shared/kube/decode/wire-object.ts';
import type { EventView } from './view.ts';

/** One Event (events.k8s.io/v1) as the page shows it; `undefined` if it cannot be read. */
export function eventView(object: KubeObject): EventView | undefined {
  const decoded = decodeObject(object, (event) => ({
    at: lastSeen(event, object),
    type: readText(event, 'type') ?? 'Normal',
    reason: readText(event, 'reason') ?? '',
    about: readObject(event, 'regarding', nameOf) ?? '',
    note: readText(event, 'note') ?? '',
    from: readText(event, 'reportingController') ?? '',
    count: readObject(event, 'series', (series) => readInteger(series, 'count')) ?? 1,
  }));
  return decoded.ok ? decoded.value : undefined;
}

function lastSeen(event: WireObject, object: KubeObject): string {
  const inSeries = readObject(event, 'series', (series) => readText(series, 'lastObservedTime'));
  return inSeries ?? readText(event, 'eventTime') ?? object.metadata.creationTimestamp ?? '';
}

/** `Pod team-a/web` or `Node node-1`. */
function nameOf(reference: WireObject): string {
  const kind = readText(reference, 'kind') ?? '';
  const namespace = readText(reference, 'namespace');
  const name = readText(reference, 'name') ?? '';
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}
