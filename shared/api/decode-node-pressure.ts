import { MAX_ENTRIES } from '#shared/domain/nodes/avoid-nodes.ts';
import {
  MAX_WINDOW_MS,
  type LoopRecord,
  LOOP_ACTIONS,
  MAX_RECORDS,
  MAX_ROUNDS,
} from '#shared/domain/preemption/loop/loop-record.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { ownerText, type Instant } from '#shared/domain/pod/pod.ts';
import { choiceOf, type Fields, fieldsOf, instantOf, integerOf, keyOf, listOf, textOf } from './fields.ts';
import type {
  AvoidEntry,
  EvictionEntry,
  NextEntry,
  NodePressure,
  NodePressureStatus,
  PodEntry,
  OwnerKey,
  PressureConditionEntry,
  RuleEntry,
  SignalEntry,
} from './node-pressure.ts';

/** The bounds of the CRD (deploy/crds/plimsoll.dev_nodepressures.yaml). */
const MAX_COUNTS = {
  avoid: MAX_ENTRIES,
  preemptionLoops: MAX_RECORDS,
  rounds: MAX_ROUNDS,
  conditions: 16,
  signals: 32,
  next: 10,
  pods: 20,
  evictions: 32,
  rules: 32,
  facts: 32,
} as const;
const MAX_LENGTHS = {
  word: 64,
  namespace: 63,
  name: 253,
  pod: 320,
  owner: 600,
  ownerUid: 128,
  type: 316,
  sentence: 1024,
  message: 4096,
} as const;

const MODES = ['DryRun', 'Enforce'] as const;
const HOLDERS = ['Node', 'Policy'] as const;
const STATUSES = ['True', 'False', 'Unknown'] as const;
const STATES = ['Far', 'Near', 'Soft', 'Hard'] as const;
const FIGURES = ['Reclaimable', 'Kubelet'] as const;
/** Ends the outcome of an eviction in a dry run. */
export const DRY_RUN_SUFFIX = ' (dry run)';

/**
 * Reads a NodePressure object. Never throws: unreadable fields count as absent, and an entry without its key (owner and
 * time, type, name, pod) is left out, because an object of one node must not stop decisions about others.
 */
export function decodeNodePressure(raw: unknown): NodePressure {
  const { metadata, spec, status } = fieldsOf(raw);
  const { name, resourceVersion } = fieldsOf(metadata);
  return {
    name: textOf(name, MAX_LENGTHS.name) ?? '',
    resourceVersion: textOf(resourceVersion, MAX_LENGTHS.name),
    avoid: listOf(fieldsOf(spec)['avoid'], MAX_COUNTS.avoid, decodeAvoid),
    preemptionLoops: listOf(fieldsOf(spec)['preemptionLoops'], MAX_COUNTS.preemptionLoops, decodeLoop),
    status: status === undefined || status === null ? undefined : decodeStatus(fieldsOf(status)),
  };
}

function decodeAvoid({ owner, until, cause, hard }: Fields): AvoidEntry | undefined {
  const key = decodeOwner(fieldsOf(owner));
  const end = instantOf(until);
  if (key === undefined || end === undefined) return undefined;
  return { owner: key, until: end, cause: textOf(cause, MAX_LENGTHS.sentence) ?? '', hard: hard === true };
}

/** An entry without both owners, a round and an end is left out, as is one that would last longer than any window. */
function decodeLoop(entry: Fields): LoopRecord | undefined {
  const preemptor = decodeOwner(fieldsOf(entry['preemptor']));
  const victim = decodeOwner(fieldsOf(entry['victim']));
  const rounds = timesOf(entry['rounds'], MAX_COUNTS.rounds);
  const until = instantOf(entry['until']);
  const last = rounds.at(-1);
  if (preemptor === undefined || victim === undefined || last === undefined || until === undefined) return undefined;
  if (until > last + MAX_WINDOW_MS) return undefined;
  const preemptorUid = textOf(entry['preemptorUid'], MAX_LENGTHS.name);
  const priority = integerOf(entry['priority']);
  return { preemptor, victim, preemptorUid, priority, rounds, until, action: choiceOf(entry['action'], LOOP_ACTIONS) };
}

function timesOf(value: unknown, most: number): readonly Instant[] {
  const items: readonly unknown[] = Array.isArray(value) ? value.slice(0, most) : [];
  return items
    .map(instantOf)
    .filter((time) => time !== undefined)
    .sort((left, right) => left - right);
}

function decodeOwner(owner: Fields): OwnerKey | undefined {
  const namespace = keyOf(owner['namespace'], MAX_LENGTHS.namespace);
  const kind = keyOf(owner['kind'], MAX_LENGTHS.name);
  const name = keyOf(owner['name'], MAX_LENGTHS.name);
  if (namespace === undefined || kind === undefined || name === undefined) return undefined;
  return { namespace, kind, name, uid: keyOf(owner['uid'], MAX_LENGTHS.ownerUid) };
}

function decodeStatus(status: Fields): NodePressureStatus {
  return {
    observedAt: instantOf(status['observedAt']),
    observedGeneration: integerOf(status['observedGeneration']),
    mode: choiceOf(status['mode'], MODES) ?? 'DryRun',
    policy: textOf(status['policy'], MAX_LENGTHS.name),
    agent: decodeAgent(status['agent']),
    conditions: listOf(status['conditions'], MAX_COUNTS.conditions, decodeCondition),
    signals: listOf(status['signals'], MAX_COUNTS.signals, decodeSignal),
    next: listOf(status['next'], MAX_COUNTS.next, decodeNext),
    evictions: listOf(status['evictions'], MAX_COUNTS.evictions, decodeEviction),
    pods: Array.isArray(status['pods']) ? listOf(status['pods'], MAX_COUNTS.pods, decodePodEntry) : undefined,
    rules: Array.isArray(status['rules']) ? listOf(status['rules'], MAX_COUNTS.rules, decodeRule) : undefined,
  };
}

function decodeAgent(value: unknown): NodePressureStatus['agent'] {
  if (value === undefined || value === null) return undefined;
  const { version, pod } = fieldsOf(value);
  return { version: textOf(version, MAX_LENGTHS.name) ?? '', pod: textOf(pod, MAX_LENGTHS.pod) ?? '' };
}

function decodeCondition(entry: Fields): PressureConditionEntry | undefined {
  const type = textOf(entry['type'], MAX_LENGTHS.type);
  if (type === undefined) return undefined;
  return {
    type,
    status: choiceOf(entry['status'], STATUSES) ?? 'Unknown',
    reason: textOf(entry['reason'], MAX_LENGTHS.sentence) ?? '',
    message: textOf(entry['message'], MAX_LENGTHS.message) ?? '',
    lastTransitionTime: instantOf(entry['lastTransitionTime']),
  };
}

/** A signal in a state unknown to this version is left out: it must not appear to be far from its threshold. */
function decodeSignal(entry: Fields): SignalEntry | undefined {
  const name = textOf(entry['name'], MAX_LENGTHS.word);
  const state = choiceOf(entry['state'], STATES);
  if (name === undefined || state === undefined) return undefined;
  return {
    name,
    state,
    available: textOf(entry['available'], MAX_LENGTHS.word),
    reclaimable: textOf(entry['reclaimable'], MAX_LENGTHS.word),
    figure: choiceOf(entry['figure'], FIGURES),
    capacity: textOf(entry['capacity'], MAX_LENGTHS.word),
    threshold: textOf(entry['threshold'], MAX_LENGTHS.word),
    since: instantOf(entry['since']),
    observedAt: instantOf(entry['observedAt']),
  };
}

function decodeNext(entry: Fields): NextEntry | undefined {
  const key = decodePodKey(entry);
  if (key === undefined) return undefined;
  return {
    ...key,
    priority: integerOf(entry['priority']),
    usage: textOf(entry['usage'], MAX_LENGTHS.word),
    request: textOf(entry['request'], MAX_LENGTHS.word),
    because: decodeBecause(entry['because']),
  };
}

function decodePodEntry(entry: Fields): PodEntry | undefined {
  const key = decodePodKey(entry);
  if (key === undefined) return undefined;
  const { cpu, memory, io } = fieldsOf(entry['waiting']);
  return {
    ...key,
    cpu: textOf(entry['cpu'], MAX_LENGTHS.word),
    memory: textOf(entry['memory'], MAX_LENGTHS.word),
    waiting: { cpu: integerOf(cpu), memory: integerOf(memory), io: integerOf(io) },
    oomKills: integerOf(entry['oomKills']),
  };
}

function decodePodKey(entry: Fields): Pick<NextEntry, 'pod' | 'uid'> | undefined {
  const pod = textOf(entry['pod'], MAX_LENGTHS.pod);
  const uid = textOf(entry['uid'], MAX_LENGTHS.name);
  return pod === undefined || uid === undefined ? undefined : { pod, uid };
}

function decodeEviction(entry: Fields): EvictionEntry | undefined {
  const key = decodePodKey(entry);
  if (key === undefined) return undefined;
  const outcome = textOf(entry['outcome'], MAX_LENGTHS.word) ?? '';
  return {
    ...key,
    owner: decodeOwnerText(textOf(entry['owner'], MAX_LENGTHS.owner), entry['ownerUid']),
    signal: textOf(entry['signal'], MAX_LENGTHS.word) ?? '',
    stage: textOf(entry['stage'], MAX_LENGTHS.word) ?? '',
    mode: outcome.endsWith(DRY_RUN_SUFFIX) ? 'DryRun' : 'Enforce',
    outcome: outcome.replace(DRY_RUN_SUFFIX, ''),
    startedAt: instantOf(entry['startedAt']),
    requestedAt: instantOf(entry['requestedAt']),
    endedAt: instantOf(entry['endedAt']),
    because: decodeBecause(entry['because']),
    decision: textOf(entry['decision'], MAX_LENGTHS.word),
  };
}

/**
 * An owner as `namespace/Kind/name`; `undefined` for any other text and for parts that do not fit in an avoid entry.
 */
function decodeOwnerText(text = '', uid: unknown): OwnerKey | undefined {
  const [namespace, kind, name, ...more] = text.split('/');
  return more.length > 0 ? undefined : decodeOwner({ namespace, kind, name, uid });
}

/**
 * The owner as it can be stored: without a UID that the CRD does not allow; `undefined` if the CRD does not allow the
 * rest.
 */
export function boundedOwner(owner: OwnerKey): OwnerKey | undefined {
  return decodeOwnerText(ownerText(owner), owner.uid);
}

/** A reason as our objects store it; absent parts are empty. */
export function decodeBecause(value: unknown): Because {
  const { code, text, facts } = fieldsOf(value);
  const known = Object.entries(fieldsOf(facts)).filter(isFact).slice(0, MAX_COUNTS.facts);
  return {
    code: textOf(code, MAX_LENGTHS.name) ?? '',
    text: textOf(text, MAX_LENGTHS.sentence) ?? '',
    facts: Object.fromEntries(known),
  };
}

function isFact(entry: [string, unknown]): entry is [string, string | number | boolean] {
  return ['string', 'number', 'boolean'].includes(typeof entry[1]);
}

function decodeRule(entry: Fields): RuleEntry | undefined {
  const rule = textOf(entry['rule'], MAX_LENGTHS.owner);
  if (rule === undefined) return undefined;
  return {
    rule,
    confirmed: entry['confirmed'] === true,
    policy: textOf(entry['policy'], MAX_LENGTHS.name),
    generation: integerOf(entry['generation']),
    mode: choiceOf(entry['mode'], MODES),
    heldBy: choiceOf(entry['heldBy'], HOLDERS),
  };
}
