import { z } from 'zod';
import {
  CAUSES,
  type Disruption,
  type DisruptionOutcome,
  type DisruptionSpec,
  madeRoom,
  NO_OUTCOME,
} from '#shared/domain/disruption/disruption.ts';
import { MAX_OTHERS } from '#shared/domain/disruption/storms.ts';
import { encodeObject, unlessEmpty } from './fields.ts';
import { described } from './schema/crd-words.ts';
import { encodeBySchema } from './schema/decode-kind.ts';
import { readReport } from './schema/decode-report.ts';
import { because, clipped, entries, FLAG, IN_DEFINITION, INSTANT, INT32, name, oneOf } from './schema/report-fields.ts';

const MAX_RANKED = 10;
const MAX_DEBITED = 20;
const NAME = name(253);
const WORD = clipped(253);
const UID = name(128);
const RULE = name(260);

export const DISRUPTION_SPEC = described(
  z.object({
    pod: NAME.required('Name of the removed pod.', { minLength: 1 }),
    podUID: UID.required('UID of the removed pod.', { minLength: 1 }),
    owner: described(
      z.object({ kind: NAME.required(), name: NAME.required(), uid: UID.required() }),
      'Controller of the pod.',
    ).optional(),
    priorityClassName: NAME.optional('Priority class of the pod.'),
    classRule: clipped(317).optional('Rule that gave the pod its priority class, as POLICY/RULE or POLICY.'),
    priority: INT32.or(0, 'Priority of the pod.', IN_DEFINITION),
    node: NAME.or('', 'Node that the pod was removed from.', IN_DEFINITION),
    removedAt: INSTANT.required('When the pod began to terminate, failed or was found to be gone.'),
    cause: oneOf(CAUSES).or(
      'Unknown',
      'What removed the pod. Unknown if the evidence does not show it.',
      IN_DEFINITION,
    ),
    requestedBy: WORD.optional('Component that asked for the removal. Only set if it is certain.'),
    decision: clipped(64).optional(
      'ID of the decision of the agent or of the rescheduler, as the Eviction carried it.',
    ),
    because: because('reason', 253, 'Reason for the removal.', IN_DEFINITION),
    debited: described(
      z.object({
        limits: described(
          z.array(RULE.required()),
          'DisruptionLimits as limit/NAME, or the owner with a default limit as owner/UID.',
          { maxItems: MAX_DEBITED, 'x-kubernetes-list-type': 'atomic' },
        ),
        overran: RULE.optional('Limit that the severe stage of the agent went beyond.'),
      }),
      'Limits of disruptions that the removal was debited to. Absent if none covers the pod.',
    ).optional(),
    madeRoomFor: described(
      z.object({
        uid: UID.required('UID of that pod.'),
        pod: NAME.optional('Name of that pod. Only set if it is in the same namespace.'),
        priorityClassName: NAME.optional('Its priority class.'),
        priority: INT32.or(0, 'Its priority.', IN_DEFINITION),
        nominatedNode: NAME.required(
          'Node on which room is set aside for that pod. kube-scheduler may still place it on another node.',
        ),
      }),
      'Pod that this one was removed for. It is set when the pod is removed, and never a pod that only uses the room later.',
    ).optional(),
    ranked: entries(
      z.object({
        pod: NAME.optional('Name of the pod. Only set if it is in the same namespace.'),
        priority: INT32.optional('Its priority.'),
        code: WORD.or('', 'Code of the reason for its place.', IN_DEFINITION),
      }),
      MAX_RANKED,
      'Pods that would have been evicted next.',
    ).optional(),
  }),
  'What was removed and why. It never changes.',
  {
    'x-kubernetes-validations': [
      { rule: 'self == oldSelf', message: 'is a record and cannot be changed' },
      {
        rule: "self.cause == 'Preemption' || !has(self.madeRoomFor)",
        message: 'madeRoomFor must only be set for the cause Preemption',
      },
    ],
  },
);

const SPEC = z.codec(DISRUPTION_SPEC, z.custom<DisruptionSpec>(), {
  decode: ({ podUID, debited, cause, madeRoomFor, ranked = [], ...others }) => ({
    ...others,
    podUid: podUID,
    owner: others.owner,
    ranked,
    debited: debited && { rules: debited.limits.slice(0, MAX_DEBITED), overran: debited.overran },
    ...madeRoom(cause, madeRoomFor),
  }),
  encode: ({ podUid, debited, ranked, ...others }) => ({
    ...others,
    podUID: podUid,
    ranked: unlessEmpty(ranked),
    debited: debited && { limits: debited.rules.slice(0, MAX_DEBITED), overran: debited.overran },
  }),
});

export const DISRUPTION_STATUS = described(
  z.object({
    count: INT32.or(
      NO_OUTCOME.count,
      'Removed pods that this record stands for. More than 1 if many pods of one owner were removed within seconds.',
      { minimum: 1 },
    ),
    others: entries(
      z.object({
        pod: NAME.or('', 'Name of the pod.', IN_DEFINITION),
        podUID: UID.or('', 'UID of the pod.', IN_DEFINITION),
      }),
      MAX_OTHERS,
      'The pods that this record stands for besides its own.',
    ).optional(),
    goneAt: INSTANT.optional('When the pod was gone.'),
    replacement: described(
      z.object({
        pod: NAME.required(),
        node: NAME.required(),
        sameNode: FLAG.or(false, 'Whether that is the node that the pod was removed from.', IN_DEFINITION),
      }),
      'First pod of the same owner that was placed afterwards.',
    ).optional(),
    placedOn: NAME.optional('Node that the pod of madeRoomFor was placed on.'),
    avoid: described(
      z.object({
        until: INSTANT.required('Until when.'),
        hard: FLAG.or(false, 'Whether the node is forbidden. Otherwise it is the last choice.', IN_DEFINITION),
      }),
      'The removal keeps pods of the same owner off the node.',
    ).optional(),
  }),
  'What became of the removal. It is written once, when nothing more is expected; the names of other pods before.',
);

function outcomeOf(status: z.output<typeof DISRUPTION_STATUS>): DisruptionOutcome {
  const { others = [], replacement, avoid, count, goneAt, placedOn } = status;
  return {
    count,
    goneAt,
    placedOn,
    others: others.map(({ pod, podUID }) => ({ pod, podUid: podUID })),
    replacement: replacement && { pod: replacement.pod, node: replacement.node },
    avoid: avoid && { isHard: avoid.hard, until: avoid.until },
  };
}

const PLACE = z.object({ namespace: name(63).or(''), name: NAME.or('') });
const RECORD = z.object({ metadata: PLACE.optional(), spec: SPEC, status: DISRUPTION_STATUS.optional() });

/**
 * Reads a Disruption. Never throws: unreadable fields count as absent; without the pod, its node and the time of its
 * removal there is no record.
 */
export function decodeDisruption(raw: unknown): Disruption | undefined {
  const read = readReport(RECORD, raw);
  if (read === undefined) return undefined;
  const { namespace, name: own } = read.metadata ?? { namespace: '', name: '' };
  return { namespace, name: own, spec: read.spec, outcome: read.status ? outcomeOf(read.status) : NO_OUTCOME };
}

/** The object as created; the outcome is written separately. */
export function encodeDisruption({ namespace, name: own, spec }: Disruption, labels: object): object {
  return encodeObject('Disruption', { namespace, name: own, labels }, { spec: encodeBySchema(SPEC, spec) });
}

/** Its status; `SameNode` shows whether the replacement returned to the node of the removed pod. */
export function encodeOutcome({ outcome, spec }: Pick<Disruption, 'outcome' | 'spec'>): object {
  const { others, replacement, avoid, ...plain } = outcome;
  return encodeBySchema(DISRUPTION_STATUS, {
    ...plain,
    others: unlessEmpty(others.map(({ pod, podUid }) => ({ pod, podUID: podUid }))),
    replacement: replacement && { ...replacement, sameNode: replacement.node === spec.node },
    avoid: avoid && { hard: avoid.isHard, until: avoid.until },
  });
}
