import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { ABORTS, REASONS } from '#shared/decide/eviction/messages.ts';
import { CONDITIONS, DOUBTS, EVENTS, LOG, OWN_LIMITS } from '#agent/messages.ts';
import { LENDING } from '#shared/decide/spare/messages.ts';
import { THROTTLING } from '#shared/decide/throttle/messages.ts';
import type { ReasonMessage } from '#shared/domain/base/because.ts';
import { printNamed, printTexts, sections, type Samples } from '#test/build/print-messages.ts';

type Values<Message> = Message extends ReasonMessage<infer Given> ? Given : never;
/** In the order of the golden file. */
const ALL_REASONS = { ...REASONS, ...DOUBTS, ...LENDING, ...THROTTLING };
type ReasonSamples = { readonly [Name in keyof typeof ALL_REASONS]: Values<(typeof ALL_REASONS)[Name]> };

const OPINION = { source: 'node-os-utils', theirsMiB: 900, ownLowMiB: 400, ownHighMiB: 420 };
const GAP = { signal: 'memory.available', kubeletAvailable: '1Gi', reclaimable: '3Gi' };

const SAMPLES: ReasonSamples = {
  thresholdMet: {
    signal: 'memory.available',
    isHard: true,
    available: '200Mi',
    kubeletAvailable: '150Mi',
    needed: '250Mi',
  },
  spareRoomNeeded: { available: '1.1Gi', line: '1.5Gi', expected: '500Mi' },
  stallsWithShortage: {
    signal: 'memory.pressure',
    share: 'full',
    short: 0.25,
    shortSeconds: 10,
    long: 0.12,
    longSeconds: 60,
    evidence: 'memory.available',
    left: 0.08,
  },
  metOnArrival: {
    rule: 'memory.available<5%',
    policy: 'batch-nodes',
    generation: 3,
    waiting: 2,
    seconds: 300,
    kept: 'memory.available<250Mi',
  },
  metElsewhere: {
    rule: 'memory.available<5%',
    policy: 'batch-nodes',
    generation: 3,
    waiting: 1,
    seconds: 300,
    kept: 'memory.available<250Mi',
    node: 'worker-7',
  },
  warmingUp: { seconds: 20 },
  podsUnknown: {},
  policiesUnknown: {},
  historyUnknown: {},
  apiServerSilent: { seconds: 130 },
  backoff: { seconds: 5 },
  kernelActs: {},
  kubeletLeads: {},
  kubeletActs: {},
  outstanding: { count: 1, concurrent: 1 },
  nodeLimit: { perMinute: 2, perTenMinutes: 4 },
  ineffective: { evictions: 3, seconds: 600 },
  endsByItself: { count: 3, seconds: 6 },
  growsWithinRequest: { pod: 'shop/cache', seconds: 10 },
  awaitingRelief: {},
  stuck: { count: 2, isKubeletSilent: true },
  noEligiblePod: {
    reasons: '1 ProtectedOptOut, 3 AboveRequestHeld',
    held: { pod: 'shop/hog', why: 'the pod asked never to be evicted' },
  },
  aboveRequestHeld: { pod: 'shop/hog', why: 'the pod asked never to be evicted' },
  aboveRequestFirst: { pod: 'shop/hog' },
  causeHeld: { pod: 'shop/hog', why: 'the pod asked never to be evicted' },
  leftToKubelet: { pod: 'shop/hog', why: 'the pod asked never to be evicted' },
  goesLater: {},
  evictionInProgress: {},
  deniedAlike: { kind: 'VirtualMachineInstance', count: 3 },
  terminating: {},
  unreadable: {},
  enoughTerminating: {},
  awaitingAnswer: {},
  noCandidate: {},
  namespaceUnknown: { namespace: 'shop' },
  noStatistics: {},
  tooSmall: {},
  ownerLimit: { count: 3, owner: 'shop/ReplicaSet/web', most: 3 },
  lessThanLimitedOwner: {},
  returned: { pod: 'shop/hog' },
  namespaceLimit: { namespace: 'shop', count: 2, most: 2 },
  changed: { cause: ABORTS.gone('shop/web') },
  refused: { cause: 'forbidden' },
  failed: {},
  budgetSpent: { cause: "Cannot evict pod as it would violate the pod's disruption budget." },
  noPodStatistics: { pods: 12, seconds: 60 },
  cacheCountedAsUsed: GAP,
  heldMemoryMissed: GAP,
  notCompared: {},
  peerFailed: { source: 'kubelet', cause: 'connection refused' },
  otherMachine: { source: 'node-os-utils', theirsMiB: 900, oursMiB: 8000 },
  sourcesDisagree: OPINION,
  podsDisagree: { pods: 2, example: 'kubelet reports 900 MiB for the pod' },
  statisticsDoubtful: { ...OPINION, source: 'kubelet' },
  kernelUnreadable: { why: 'cannot read /proc/meminfo: EACCES' },
  podsUnreadable: { pods: 12, why: 'no cgroup of all pods' },
  policiesOutdated: { seconds: 300 },
  policyUnreadable: { policy: 'batch-nodes', field: 'spec.evictionHard', cause: 'expected an object' },
  room: { peak: '12Gi', spareUsed: '3Gi', lendable: '6Gi' },
  noRoom: { peak: '24Gi', spareUsed: '3Gi' },
  noHistory: { minutes: 12 },
  noThreshold: {},
  doubtful: {},
  lowered: { used: 3000, request: 500, limit: 4000, to: 1750 },
  roomAgain: { idle: 1450, kept: 200 },
  notAsked: {},
  notMeasured: {},
  heldLongest: { minutes: 10 },
  notApplied: { seconds: 30 },
  agentStops: {},
};

const ABORT_TEXTS: Samples<typeof ABORTS> = {
  noLongerEnforced: ['batch-nodes'],
  unread: ['shop/web', 'connection refused'],
  gone: ['shop/web'],
  otherUid: ['shop/web', 'b2c', 'a1b'],
  terminating: ['shop/web'],
  nowProtected: ['shop/web', 'the pod asked never to be evicted'],
  relieved: ['memory.available'],
};

const CONDITION_TEXTS: Samples<typeof CONDITIONS> = {
  notMeasured: [],
  pressure: [],
  noPressure: [],
  heldBack: ['memory.available is 200Mi', 'no pod may be evicted now: 3 ProtectedNamespace'],
  sourcesAgree: [],
  policiesRead: [3],
  rulesConfirmed: [],
  podsRead: [],
  podsUnread: ['cannot read pod "web": spec.containers: expected a list', 2],
  figuresAgree: [],
  figuresNotCompared: [],
  podsMeasured: [],
  evictionsCarriedOut: [],
  kubeletSilent: [],
};

const EVENT_TEXTS: Samples<typeof EVENTS> = {
  thresholdMet: ['memory'],
  cannotEvict: ['forbidden'],
  notEvicted: [REASONS.ownerLimit(SAMPLES.ownerLimit).text],
  cpuLimitRestored: [2000, THROTTLING.notAsked({}).text],
  cpuLimitNotRestored: [2000, 'forbidden'],
  cpuLimitNotLowered: ['forbidden'],
  dryRun: ['The node was low on resource: memory. '],
};

/** Texts that depend on more than the values in them. */
const VARIANTS: Readonly<Record<string, string>> = {
  'a soft threshold': REASONS.thresholdMet({ ...SAMPLES.thresholdMet, isHard: false, kubeletAvailable: undefined })
    .text,
  'one rule met on arrival': REASONS.metOnArrival({ ...SAMPLES.metOnArrival, waiting: 1, kept: undefined }).text,
  'stuck pods, a kubelet that reports': REASONS.stuck({ ...SAMPLES.stuck, isKubeletSilent: false }).text,
  'stuck pods, a kubelet that is ready': REASONS.stuck({ count: 2, isKubeletSilent: false, isKubeletReady: true }).text,
  'no policy': CONDITIONS.policiesRead(0),
  'one unreadable pod': CONDITIONS.podsUnread('cannot read pod "web"', 0),
};

function reasonLines(): readonly string[] {
  return Object.entries(ALL_REASONS).map(([name, message]) => {
    const { code, text } = (message as ReasonMessage<unknown>)(SAMPLES[name as keyof ReasonSamples]);
    return `${code}: ${text}`;
  });
}

describe('the sentences of the agent', () => {
  test('are those of messages.golden, each with its code', async () => {
    const texts = sections({
      'Reasons: code, text': reasonLines(),
      'Evictions that are not sent': printTexts(ABORTS, ABORT_TEXTS),
      Conditions: printTexts(CONDITIONS, CONDITION_TEXTS),
      'Pods at their own limit': printTexts(OWN_LIMITS, { memory: [12.5], cpu: [40] }),
      Events: printTexts(EVENTS, EVENT_TEXTS),
      Log: printNamed(LOG),
      'In other cases': printNamed(VARIANTS),
    });
    await expect(texts).toMatchFileSnapshot('messages.golden');
  });

  test('speak of evictions and never of preemption, in text and metrics (S0-1)', () => {
    const all = [...reasonLines(), ...printTexts(ABORTS, ABORT_TEXTS), ...printTexts(CONDITIONS, CONDITION_TEXTS)];
    const others = [...printTexts(EVENTS, EVENT_TEXTS), ...printNamed(LOG)];
    expect([...all, ...others].filter((text) => /preempt/i.test(text))).toEqual([]);
    expect([...all, ...others].filter((text) => /evict/i.test(text)).length).toBeGreaterThan(5);
    const metrics = readFileSync('docs/reference/metrics.md', 'utf8').split('\n');
    expect(metrics.filter((line) => /_evict/.test(line) && /_preempt/.test(line))).toEqual([]);
    expect(EVENT_REASONS).toMatchObject({ evicted: 'Evicted', preempted: 'Preempted' });
  });

  test('the code of a threshold says whether it is hard', () => {
    const soft = REASONS.thresholdMet({ ...SAMPLES.thresholdMet, isHard: false }, { signal: 'memory.available' });
    expect(soft).toMatchObject({ code: 'SoftThresholdMet', facts: { signal: 'memory.available' } });
  });
});
