import { isRecord } from '#shared/kube/kube-object.ts';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { OBJECT_HEAD } from '#shared/kube/protobuf/kube-messages.ts';

/** What the first bytes of a pod say. */
export interface PodHead {
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Longer than the longest names together. */
const HEAD_BYTES = 1_024;
const HEAD =
  /^(?:\{"type":"(?:ADDED|MODIFIED|DELETED)","object":)?\{(?:"kind":"Pod","apiVersion":"v1",)?"metadata":\{"name":"[^"\\]*",(?:"generateName":"[^"\\]*",)?"namespace":"([^"\\]*)","uid":"([^"\\]*)","resourceVersion":"([^"\\]*)"/;

/**
 * Reads from the first bytes of an item of a list, or of a line of a watch, which pod it is, so that most pods of a
 * cluster need not be parsed. kube-apiserver always writes these fields first and in this order; for bytes that begin
 * otherwise the answer is `undefined`, and they have to be parsed.
 */
export function skimPod(json: Buffer): PodHead | undefined {
  const [, namespace, uid, resourceVersion] = HEAD.exec(json.toString('latin1', 0, HEAD_BYTES)) ?? [];
  if (namespace === undefined || uid === undefined || resourceVersion === undefined) return undefined;
  return { namespace, uid, resourceVersion };
}

/** As `skimPod`, of a pod in protocol buffers: everything but its metadata is passed over. Throws UnreadableMessageError. */
export function skimPodMessage(message: Buffer): PodHead | undefined {
  const { metadata } = decodeMessage(OBJECT_HEAD, message);
  const { namespace, uid, resourceVersion } = isRecord(metadata) ? metadata : {};
  const isPod = typeof namespace === 'string' && typeof uid === 'string' && typeof resourceVersion === 'string';
  return isPod ? { namespace, uid, resourceVersion } : undefined;
}
