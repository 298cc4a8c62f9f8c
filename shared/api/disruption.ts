import {
  CAUSES,
  type Disruption,
  type DisruptionOutcome,
  type DisruptionSpec,
  madeRoom,
  NO_OUTCOME,
  type OtherPod,
  type Preemptor,
  type RecordedCandidate,
  type EvictedPod,
  MAX_EVICTED,
} from '#shared/domain/disruption/disruption.ts';
import { MAX_OTHERS } from '#shared/domain/disruption/storms.ts';
import { decodeBecause } from './decode-node-pressure.ts';
import {
  choiceOf,
  type Fields,
  fieldsOf,
  instantOf,
  integerOf,
  isWhole,
  keyOf,
  listOf,
  textOf,
  encodeObject,
  present,
  timeText,
  unlessEmpty,
} from './fields.ts';

/** The bounds of the CRD (deploy/crds/plimsoll.dev_disruptions.yaml). */
const MAX_LENGTHS = { name: 253, namespace: 63, uid: 128, word: 253, decision: 64, rule: 260, classRule: 317 } as const;
const MAX_RANKED = 10;
const MAX_DEBITED = 20;

/**
 * Reads a Disruption. Never throws: unreadable fields count as absent; without the pod, its node and the time of its
 * removal there is no record.
 */
export function decodeDisruption(raw: unknown): Disruption | undefined {
  const { metadata, spec, status } = fieldsOf(raw);
  const { namespace, name } = fieldsOf(metadata);
  const read = decodeSpec(fieldsOf(spec));
  if (read === undefined) return undefined;
  return {
    namespace: keyOf(namespace, MAX_LENGTHS.namespace) ?? '',
    name: keyOf(name, MAX_LENGTHS.name) ?? '',
    spec: read,
    outcome: decodeOutcome(fieldsOf(status)),
  };
}

function decodeSpec(spec: Fields): DisruptionSpec | undefined {
  const pod = keyOf(spec['pod'], MAX_LENGTHS.name);
  const podUid = keyOf(spec['podUID'], MAX_LENGTHS.uid);
  const removedAt = instantOf(spec['removedAt']);
  if (pod === undefined || podUid === undefined || removedAt === undefined) return undefined;
  return {
    pod,
    podUid,
    removedAt,
    owner: decodeOwner(fieldsOf(spec['owner'])),
    priorityClassName: keyOf(spec['priorityClassName'], MAX_LENGTHS.name),
    classRule: textOf(spec['classRule'], MAX_LENGTHS.classRule),
    priority: integerOf(spec['priority']) ?? 0,
    node: keyOf(spec['node'], MAX_LENGTHS.name) ?? '',
    requestedBy: textOf(spec['requestedBy'], MAX_LENGTHS.word),
    because: decodeBecause(spec['because']),
    decision: textOf(spec['decision'], MAX_LENGTHS.decision),
    debited: decodeDebited(fieldsOf(spec['debited'])),
    ...madeRoom(choiceOf(spec['cause'], CAUSES) ?? 'Unknown', decodePreemptor(fieldsOf(spec['madeRoomFor']))),
    ranked: listOf(spec['ranked'], MAX_RANKED, decodeRanked),
  };
}

function decodeOwner({ kind, name, uid }: Fields): DisruptionSpec['owner'] {
  const owner = {
    kind: keyOf(kind, MAX_LENGTHS.name),
    name: keyOf(name, MAX_LENGTHS.name),
    uid: keyOf(uid, MAX_LENGTHS.uid),
  };
  return isWhole(owner) ? owner : undefined;
}

function decodePreemptor(preemptor: Fields): Preemptor | undefined {
  const uid = keyOf(preemptor['uid'], MAX_LENGTHS.uid);
  const nominatedNode = keyOf(preemptor['nominatedNode'], MAX_LENGTHS.name);
  if (uid === undefined || nominatedNode === undefined) return undefined;
  return {
    uid,
    nominatedNode,
    pod: keyOf(preemptor['pod'], MAX_LENGTHS.name),
    priorityClassName: keyOf(preemptor['priorityClassName'], MAX_LENGTHS.name),
    priority: integerOf(preemptor['priority']) ?? 0,
  };
}

function decodeDebited({ limits, overran }: Fields): DisruptionSpec['debited'] {
  if (!Array.isArray(limits)) return undefined;
  const rules = limits.slice(0, MAX_DEBITED).flatMap((each) => keyOf(each, MAX_LENGTHS.rule) ?? []);
  return { rules, overran: keyOf(overran, MAX_LENGTHS.rule) };
}

function decodeRanked(entry: Fields): RecordedCandidate {
  return {
    pod: keyOf(entry['pod'], MAX_LENGTHS.name),
    priority: integerOf(entry['priority']),
    code: textOf(entry['code'], MAX_LENGTHS.word) ?? '',
  };
}

function decodeOutcome(status: Fields): DisruptionOutcome {
  const { pod, node } = fieldsOf(status['replacement']);
  const replacement = { pod: keyOf(pod, MAX_LENGTHS.name), node: keyOf(node, MAX_LENGTHS.name) };
  const { until, hard } = fieldsOf(status['avoid']);
  const avoidUntil = instantOf(until);
  return {
    count: integerOf(status['count']) ?? NO_OUTCOME.count,
    others: listOf(status['others'], MAX_OTHERS, decodeOther),
    goneAt: instantOf(status['goneAt']),
    replacement: isWhole(replacement) ? replacement : undefined,
    placedOn: keyOf(status['placedOn'], MAX_LENGTHS.name),
    avoid: avoidUntil === undefined ? undefined : { isHard: hard === true, until: avoidUntil },
  };
}

function decodeOther({ pod, podUID }: Fields): OtherPod {
  return { pod: keyOf(pod, MAX_LENGTHS.name) ?? '', podUid: keyOf(podUID, MAX_LENGTHS.uid) ?? '' };
}

/** The object as created; the outcome is written separately. */
export function encodeDisruption({ namespace, name, spec }: Disruption, labels: object): object {
  const { podUid, removedAt, owner, because, debited, madeRoomFor, ranked, ...others } = spec;
  return encodeObject(
    'Disruption',
    { namespace, name, labels },
    {
      spec: present({
        ...others,
        podUID: podUid,
        removedAt: timeText(removedAt),
        owner: owner && present({ ...owner }),
        because,
        debited: debited && present({ limits: debited.rules.slice(0, MAX_DEBITED), overran: debited.overran }),
        madeRoomFor: madeRoomFor && present({ ...madeRoomFor }),
        ranked: unlessEmpty(ranked.map((each) => present({ ...each }))),
      }),
    },
  );
}

/** Its status; `SameNode` shows whether the replacement returned to the node of the removed pod. */
export function encodeOutcome({ outcome, spec }: Pick<Disruption, 'outcome' | 'spec'>): object {
  const { count, others, goneAt, replacement, placedOn, avoid } = outcome;
  return present({
    count,
    others: unlessEmpty(others.map(({ pod, podUid }) => ({ pod, podUID: podUid }))),
    goneAt: goneAt === undefined ? undefined : timeText(goneAt),
    replacement: replacement && { ...replacement, sameNode: replacement.node === spec.node },
    placedOn,
    avoid: avoid && { hard: avoid.isHard, until: timeText(avoid.until) },
  });
}

/*
 * `status.evicted` of a ReschedulingPolicy or a Queue: only the process that evicts may write it, so that the record of
 * removed pods can take its causes from there.
 */

const MAX_OF_EVICTED_LENGTH = 512;

/** The pods that the status lists as evicted. Never throws: unreadable entries are left out. */
export function decodeEvictedPods(raw: unknown): readonly EvictedPod[] {
  const { status } = fieldsOf(raw);
  return listOf(fieldsOf(status)['evicted'], MAX_EVICTED, (entry) => {
    const [pod, uid] = [keyOf(entry['pod'], MAX_OF_EVICTED_LENGTH), keyOf(entry['uid'], MAX_OF_EVICTED_LENGTH)];
    const [node, decision] = [
      keyOf(entry['node'], MAX_OF_EVICTED_LENGTH),
      keyOf(entry['decision'], MAX_OF_EVICTED_LENGTH),
    ];
    const [at, code, text] = [
      instantOf(entry['at']),
      textOf(entry['code'], MAX_OF_EVICTED_LENGTH),
      textOf(entry['because'], MAX_OF_EVICTED_LENGTH),
    ];
    const found = { pod, uid, node, decision, at, because: { code: code ?? '', text: text ?? '', facts: {} } };
    return isWhole(found) ? [found] : [];
  }).flat();
}

/** One of them, as it is written. */
export function encodeEvictedPod({ at, because, ...pod }: EvictedPod): object {
  return { ...pod, at: timeText(at), code: because.code, because: because.text };
}
