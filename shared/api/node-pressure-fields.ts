import { z } from 'zod';
import type { Because } from '#shared/domain/base/because.ts';
import { MAX_ENTRIES } from '#shared/domain/nodes/avoid-nodes.ts';
import type { RecordedEviction } from '#shared/domain/nodes/evicted-owners.ts';
import { type OwnerKey, ownerText } from '#shared/domain/pod/pod.ts';
import {
  LOOP_ACTIONS,
  type LoopRecord,
  MAX_RECORDS,
  MAX_ROUNDS,
  MAX_WINDOW_MS,
} from '#shared/domain/preemption/loop/loop-record.ts';
import { readReport } from './schema/decode-report.ts';
import { SPARE_STATUS } from './spare-status.ts';
import { type CrdWords, described } from './schema/crd-words.ts';
import {
  because,
  clipped,
  entries,
  FLAG,
  IN_DEFINITION,
  INSTANT,
  INT32,
  INT64,
  name,
  oneOf,
} from './schema/report-fields.ts';

/* The fields of a NodePressure. Who reads them: node-pressure.ts. */

const MODES = oneOf(['DryRun', 'Enforce']);
/** An amount, a signal or another short word. */
const WORD = clipped(64);
const UID = clipped(128);
const POD = { pod: clipped(320).required('Namespace and name of the pod, as namespace/name.'), uid: UID.required() };
const BECAUSE = because('decision', 128, 'Reason for the decision, with the numbers that it is based on.');

function listMap(key: string): CrdWords {
  return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] };
}

const OWNER = { namespace: name(63), kind: name(253), name: name(253), uid: name(128) };

function owner(description: string, uid: string) {
  const named = { minLength: 1 };
  const fields = z.object({
    namespace: OWNER.namespace.required(undefined, named),
    kind: OWNER.kind.required(undefined, named),
    name: OWNER.name.required(undefined, named),
    uid: OWNER.uid.optional(uid),
  });
  return described(fields, description);
}

/** As it stands in a text. */
const OWNER_KEY = owner('', '');

export const AVOID_ENTRY = z.object({
  owner: owner('Controller of the pods.', 'UID of the owner. If absent, every owner with this kind and name matches.'),
  until: INSTANT.required('Time from which the entry has no effect.'),
  cause: clipped(1_024).or('', 'Reason for the entry.'),
  hard: FLAG.or(
    false,
    'If true, the extender does not allow the node for these pods. Otherwise it only prefers other nodes.',
  ),
});

const ROUNDS = entries(INSTANT.required(), MAX_ROUNDS, 'Times of the rounds, the latest last.', {
  ...IN_DEFINITION,
  minItems: 1,
});

/** One that would last longer than any window is not read. */
export const PREEMPTION_LOOP = z.codec(
  z.object({
    preemptor: owner(
      'Controller of the pod for which the latest round made room, or this pod if it has no controller.',
      'UID of the owner.',
    ),
    victim: owner(
      'Controller of the pods that the latest round preempted, or the pod if it has no controller.',
      'UID of the owner.',
    ),
    preemptorUid: UID.optional('UID of the pod for which the latest round made room.'),
    priority: INT32.optional(
      'Lowest priority of the pods for which the rounds made room. No pod of a higher priority is refused for them, and none at all where it is absent.',
    ),
    rounds: ROUNDS,
    until: INSTANT.required('Time from which the entry has no effect.'),
    action: oneOf(LOOP_ACTIONS).optional(
      'What is done about the loop: Refuse refuses preemptions between the two owners. Avoid adds the owner of the victim to the avoid list of this node. Report (dry run) does neither. Absent while there are too few rounds for a loop.',
    ),
  }),
  z.custom<LoopRecord>(),
  {
    decode: (loop, context) => {
      const rounds = [...loop.rounds].sort((left, right) => left - right);
      if (loop.until <= (rounds.at(-1) ?? -Infinity) + MAX_WINDOW_MS) return { ...loop, rounds, action: loop.action };
      context.issues.push({ code: 'custom', message: 'expected rounds within a window', input: loop });
      return z.NEVER;
    },
    encode: (loop) => loop,
  },
);

export const NODE_PRESSURE_SPEC = described(
  z.object({
    avoid: entries(
      AVOID_ENTRY,
      MAX_ENTRIES,
      'Avoid list: owners whose pods should not be placed on this node until a time.',
    ).optional(),
    preemptionLoops: entries(
      PREEMPTION_LOOP,
      MAX_RECORDS,
      'Owners whose pods displaced each other at least twice, the last time on this node. A scheduler process that starts takes the rounds from here.',
    ).optional(),
  }),
  'Desired state of this node. Only the scheduler process writes it.',
);

/** `type` is a resource (`Memory`, `Cpu`, `Io`, `Disk`, `Pid`) or a statement such as `SourcesAgree`. */
export const CONDITION = z.object({
  type: clipped(316).required(),
  status: oneOf(['True', 'False', 'Unknown']).or('Unknown', undefined, IN_DEFINITION),
  reason: clipped(1_024).or('', undefined, { ...IN_DEFINITION, minLength: 1 }),
  message: clipped(4_096).or('', undefined, { ...IN_DEFINITION, maxLength: 32_768 }),
  lastTransitionTime: INSTANT.optional(undefined, IN_DEFINITION),
});

/** One in a state unknown to this version is left out: it must not appear to be far from its threshold. */
export const SIGNAL_ENTRY = z.object({
  name: WORD.required(),
  available: WORD.optional('Available amount. For memory, as the kubelet computes it.'),
  reclaimable: WORD.optional('Memory that processes can still allocate.'),
  figure: oneOf(['Reclaimable', 'Kubelet']).optional('Which of the two figures memory thresholds are compared with.'),
  capacity: WORD.optional(),
  threshold: WORD.optional(),
  /** `Hard` and `Soft`: such a threshold is met. */
  state: oneOf(['Far', 'Near', 'Soft', 'Hard']).required(),
  since: INSTANT.optional('Time at which this state began.'),
  observedAt: INSTANT.optional(),
});

export const NEXT_ENTRY = z.object({
  ...POD,
  priority: INT32.optional(),
  usage: WORD.optional(),
  request: WORD.optional(),
  because: BECAUSE,
});

const PERCENT = INT32.optional(undefined, { minimum: 0, maximum: 100 });
const WAITING = z.object({ cpu: PERCENT, memory: PERCENT, io: PERCENT });

export const POD_ENTRY = z.object({
  ...POD,
  cpu: WORD.optional('CPU that it uses.'),
  memory: WORD.optional('Its working set.'),
  waiting: z.codec(
    described(
      WAITING,
      'Percent of the time in which some of its tasks waited for a resource. A resource for which its own limit makes it wait is absent.',
    ).optional(),
    z.custom<Partial<z.output<typeof WAITING>>>(),
    { decode: (given) => given ?? {}, encode: ({ cpu, memory, io }) => ({ cpu, memory, io }) },
  ),
  oomKills: INT64.optional('Processes that the kernel has killed in it for memory since it was created.'),
});

/** A CPU limit that the agent lowered; amounts are millicores. */
export const THROTTLED_ENTRY = z.object({
  ...POD,
  container: clipped(253).required(),
  before: INT64.required('The limit that it gets back.'),
  from: INT64.required('The limit before the latest change.'),
  to: INT64.required('The limit that holds now, or does in a moment.'),
  used: INT64.required('What the pod used when its limit was lowered first.'),
  at: INSTANT.required('Time of the first change.'),
  because: BECAUSE,
});

/** A threshold or pressure rule in force. */
export const RULE_ENTRY = z.object({
  rule: clipped(256).required(),
  confirmed: FLAG.or(false, undefined, IN_DEFINITION),
  policy: clipped(253).optional('Name of the policy that sets it.'),
  generation: INT64.optional(),
  mode: MODES.optional('In which mode the rule acts once it is confirmed.'),
  heldBy: oneOf(['Node', 'Policy']).optional(
    'Why a rule waits. Node: this node met it. Policy: other nodes did, as the status of the policy says.',
  ),
});

/** Ends the outcome of an eviction in a dry run. */
const DRY_RUN_SUFFIX = ' (dry run)';

/** An eviction under way, or one of the last that ended; `pod` is `namespace/name`. */
export interface EvictionEntry extends RecordedEviction {
  readonly pod: string;
  readonly stage: string;
  readonly endedAt: number | undefined;
  readonly because: Because;
  /** The ID of the decision, as the Eviction carried it. */
  readonly decision?: string | undefined;
}

const EVICTION_ENTRY = z.codec(
  z.object({
    ...POD,
    owner: clipped(600).optional(),
    ownerUid: UID.optional(),
    signal: WORD.or(''),
    stage: WORD.or(''),
    outcome: WORD.or(''),
    decision: WORD.optional('ID of the decision. The Eviction carries it too.'),
    startedAt: INSTANT.optional('When the pod started, by the clock of its node.'),
    requestedAt: INSTANT.optional(),
    endedAt: INSTANT.optional(),
    because: BECAUSE,
  }),
  z.custom<EvictionEntry>(),
  {
    decode: ({ owner: text, ownerUid, outcome, ...entry }) => ({
      ...entry,
      owner: ownerIn(text, ownerUid),
      mode: outcome.endsWith(DRY_RUN_SUFFIX) ? ('DryRun' as const) : ('Enforce' as const),
      outcome: outcome.replace(DRY_RUN_SUFFIX, ''),
    }),
    encode: ({ mode, owner: key, outcome, ...entry }) => ({
      ...entry,
      decision: entry.decision,
      startedAt: entry.startedAt,
      owner: key && ownerText(key),
      ownerUid: key?.uid,
      outcome: mode === 'DryRun' ? `${outcome}${DRY_RUN_SUFFIX}` : outcome,
    }),
  },
);

/** The owner as `namespace/Kind/name`; `undefined` for any other text and for parts that do not fit an avoid entry. */
function ownerIn(text = '', uid: string | undefined): OwnerKey | undefined {
  const [namespace, kind, ownerName, ...more] = text.split('/');
  const read = more.length > 0 ? undefined : readReport(OWNER_KEY, { namespace, kind, name: ownerName, uid });
  return read && { ...read, uid: read.uid };
}

/**
 * The owner as it can be stored: without a UID that the definition does not allow; `undefined` if it does not allow the
 * rest.
 */
export function boundedOwner(key: OwnerKey): OwnerKey | undefined {
  return ownerIn(ownerText(key), key.uid);
}

/** What the agent observed and did. */
export const NODE_PRESSURE_STATUS = described(
  z.object({
    observedAt: INSTANT.optional('Time of the latest observation.'),
    observedGeneration: INT64.optional(),
    /** `DryRun` unless the agent says `Enforce`. */
    mode: MODES.or('DryRun'),
    policy: clipped(253).optional('Name of the NodePressurePolicy that applies.'),
    agent: z.object({ version: UID.or(''), pod: clipped(320).or('') }).optional(),
    conditions: entries(CONDITION, 16, 'Current conditions, one entry per type.', listMap('type')),
    signals: entries(
      SIGNAL_ENTRY,
      32,
      'Latest observation of each signal, with the threshold nearest to it.',
      listMap('name'),
    ),
    /** Pods that would be evicted, in that order. */
    next: entries(NEXT_ENTRY, 10, 'First pods in eviction order.'),
    /** `undefined` if the status has no such list. */
    pods: entries(
      POD_ENTRY,
      20,
      'Pods of the node that wait, were killed for memory, or use most beyond their requests. What is not measured is absent.',
      listMap('uid'),
    ).optional(),
    /** `undefined` if the status has no such list. */
    rules: entries(
      RULE_ENTRY,
      32,
      'Thresholds in force, and whether each may evict pods. A threshold that was already met when it was set evicts no pod until it has not been met for the transition period, or until it is confirmed; the confirmed threshold before it stays in force meanwhile.',
    ).optional(),
    evictions: entries(EVICTION_ENTRY, 32, 'In-flight evictions and the latest evictions that ended.'),
    /** `undefined` until a limit has been lowered. */
    throttled: entries(
      THROTTLED_ENTRY,
      10,
      'CPU limits that are lowered because the node is short of CPU, in millicores. Each stands here before it is lowered, and until the pod has the old limit again.',
      listMap('uid'),
    ).optional(),
    /** `undefined` unless the policy says `spare`. */
    spare: SPARE_STATUS.optional(),
  }),
  'Observed state of this node. Only the agent of the node writes it.',
);
