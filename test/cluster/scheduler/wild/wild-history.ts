import { readFileSync } from 'node:fs';
import { decodeAdmitted } from '#shared/api/admitted.ts';
import { decodeQueue } from '#shared/api/queue.ts';
import { queueAmounts } from '#shared/domain/queue/queue.ts';
import { addAmounts } from '#shared/domain/queue/usage.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { at, textAt, type WatchLine } from '#test/contract/harness.ts';
import { protectedFault } from '#test/build/wild/eviction-laws.ts';
import { valueOf } from '#test/build/value-of.ts';

/** A line of a watch and when it came. */
export interface TimedLine extends WatchLine {
  readonly at: number;
}

/** What watches and the audit log say of a run. */
export interface WildHistory {
  readonly pods: readonly TimedLine[];
  readonly queues: readonly KubeObject[];
  /** UIDs of pods that a record names. */
  readonly recorded: ReadonlySet<string>;
  /** UIDs of the pods of which an Event says that they gave their share back. */
  readonly returned: ReadonlySet<string>;
  readonly auditLog: string;
  readonly now: number;
}

/** What broke a law; empty if nothing did. */
export function wildMistakes(history: WildHistory): readonly string[] {
  const evicted = evictedByUs(history);
  return [
    ...evicted.flatMap(protectedFault),
    ...evicted
      .filter(({ metadata: { uid = '' } }) => !history.recorded.has(uid))
      .map(({ metadata }) => `no record of the eviction of ${metadata.namespace}/${metadata.name}`),
    ...heldTooLong(history),
    ...aboveMaximum(history),
  ];
}

const OURS = /^system:serviceaccount:plimsoll-(?:system|node):plimsoll-/;

/** The pods that our accounts evicted, as they were just before. The log has who, when and the name, but no bodies. */
export function evictedByUs({ auditLog, pods }: WildHistory): readonly KubeObject[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
  const asked = lines.filter((line) => line.includes('"eviction"') && line.includes(':plimsoll-'));
  return asked.flatMap((line) => {
    const entry: unknown = JSON.parse(line);
    const isDone = Number(at(entry, 'responseStatus.code')) === 201 && OURS.test(String(at(entry, 'user.username')));
    if (!isDone || String(at(entry, 'requestURI')).includes('dryRun')) return [];
    return lastBefore(pods, at(entry, 'objectRef')) ?? [];
  });
}

/** Names are not used again. */
function lastBefore(pods: readonly TimedLine[], named: unknown): KubeObject | undefined {
  const [namespace, name] = [at(named, 'namespace'), at(named, 'name')];
  const found = pods.findLast(({ object }) => {
    const isIt = at(object, 'metadata.name') === name && at(object, 'metadata.namespace') === namespace;
    return isIt && at(object, 'metadata.deletionTimestamp') === undefined;
  });
  return found?.object as KubeObject | undefined;
}

/** A pod has five minutes for a node from when it was let in, and the leader some more to say that it has none. */
const HELD_MS = 420_000;

function heldTooLong({ pods, returned, now }: WildHistory): readonly string[] {
  return latest(pods, Infinity).flatMap((pod) => {
    const admitted = decodeAdmitted(pod.metadata.annotations?.['plimsoll.dev/admitted']);
    const isHeld = admitted !== undefined && at(pod, 'spec.nodeName') === undefined && now - admitted.at > HELD_MS;
    return isHeld && !returned.has(pod.metadata.uid ?? '')
      ? [`${pod.metadata.namespace}/${pod.metadata.name} was let in and is on no node`]
      : [];
  });
}

/** Each pod as it was last, without those that are gone. */
function latest(pods: readonly TimedLine[], until: number): readonly KubeObject[] {
  const found = new Map<string, KubeObject>();
  for (const { type, object, at: seenAt } of pods) {
    if (seenAt > until) break;
    const uid = textAt(object, 'metadata.uid');
    if (type === 'DELETED') found.delete(uid);
    else found.set(uid, object as KubeObject);
  }
  return [...found.values()];
}

const ABOVE_MS = 60_000;
const STEP_MS = 10_000;

/** No queue holds more than its maximum for more than a minute, by what was let in. */
function aboveMaximum({ pods, queues, now }: WildHistory): readonly string[] {
  const since = new Map<string, number>();
  const faults = new Set<string>();
  for (let time = pods[0]?.at ?? now; time <= now; time += STEP_MS) {
    const above = new Set(excesses(latest(pods, time), queues));
    for (const key of since.keys()) if (!above.has(key)) since.delete(key);
    for (const key of above) {
      since.set(key, since.get(key) ?? time);
      if (time - (since.get(key) ?? time) > ABOVE_MS) faults.add(`queue ${key} is above its maximum for a minute`);
    }
  }
  return [...faults];
}

function excesses(pods: readonly KubeObject[], queues: readonly KubeObject[]): readonly string[] {
  const used = new Map<string, Map<string, Whole>>();
  for (const raw of pods) {
    const admitted = decodeAdmitted(raw.metadata.annotations?.['plimsoll.dev/admitted']);
    const isOn =
      at(raw, 'spec.nodeName') !== undefined && !['Succeeded', 'Failed'].includes(String(at(raw, 'status.phase')));
    if (admitted === undefined || !isOn || raw.metadata.deletionTimestamp !== undefined) continue;
    const sum = used.get(admitted.queue) ?? new Map<string, Whole>();
    used.set(admitted.queue, sum);
    addAmounts(sum, queueAmounts(podRequests(valueOf(decodePod(raw)), SCHEDULER_VIEW)));
  }
  return queues.flatMap((raw) => {
    const { name, max } = valueOf(decodeQueue(raw));
    return Array.from(queueAmounts(max)).flatMap(([type, most]) =>
      (used.get(name)?.get(type) ?? 0) > most ? [`${name} ${type}`] : [],
    );
  });
}
