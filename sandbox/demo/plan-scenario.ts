/** A pod of the scenario: its owner, its importance, what it requests and what it really uses. */
export interface PlannedPod {
  readonly namespace: string;
  readonly name: string;
  readonly priorityClass: string;
  readonly image: 'demo/service' | 'demo/hog';
  readonly requestMi: number;
  readonly milliCpu: number;
  /** Held from the start, in addition to some 10Mi for the process itself. */
  readonly holdsMi: number;
  /** Only a hog grows. */
  readonly growsMiPerSecond: number;
}

export interface Scenario {
  /** As Deployments of one replica each; all must survive. */
  readonly services: readonly PlannedPod[];
  /** Requests more than its team may have at that priority. */
  readonly refused: PlannedPod;
  readonly preemption: PlannedPreemption;
  readonly hog: PlannedPod;
}

/** Two pods that fill the node's processors, and a third of higher priority for which one of them is preempted. */
export interface PlannedPreemption {
  /** kube-scheduler's own choice, as its priority is the lowest; its class opted out of preemption. */
  readonly optedOut: PlannedPod;
  readonly yielding: PlannedPod;
  readonly newcomer: PlannedPod;
}

export const TEAMS = ['team-a', 'team-b'] as const;
/** What the pods of class critical may request together in each team. */
export const CRITICAL_QUOTA_MI = 320;

const SERVICE_MILLI_CPU = 50;
/** Of the node's four processors there is room for two of these, not for three. */
const JOB_MILLI_CPU = 1_500;
/** More than an idle demo process uses. */
const JOB_REQUEST_MI = 40;

const CRITICAL_NAMES = ['checkout', 'payments', 'login'];
const STANDARD_NAMES = ['catalog', 'search', 'profile', 'basket'];
const REFUSED_NAMES = ['warehouse', 'recommender', 'ledger'];
const LONG_JOB_NAMES = ['simulation', 'backfill', 'video-encode'];
const BATCH_NAMES = ['thumbnails', 'link-check', 'mail-digest'];
const NEW_NAMES = ['invoices', 'tracking', 'pricing'];
const HOG_NAMES = ['nightly-report', 'reindex', 'model-training'];

/** The same seed always gives the same scenario; below 1, `pace` slows the hog down. */
export function planScenario(seed: number, pace = 1): Scenario {
  const random = seededRandom(seed);
  const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  const [teamA, teamB] = random() < 0.5 ? TEAMS : ([TEAMS[1], TEAMS[0]] as const);
  const criticalHolds = between(130, 160);
  const critical: PlannedPod = {
    namespace: teamA,
    name: pick(CRITICAL_NAMES, random),
    priorityClass: 'critical',
    image: 'demo/service',
    requestMi: criticalHolds + between(60, 80),
    milliCpu: SERVICE_MILLI_CPU,
    holdsMi: criticalHolds,
    growsMiPerSecond: 0,
  };
  const standard = shuffle(STANDARD_NAMES, random)
    .slice(0, 2)
    .map((name, index): PlannedPod => {
      const holdsMi = between(30, 50);
      const namespace = index === 0 ? teamA : teamB;
      const requestMi = holdsMi + between(40, 60);
      return { ...critical, namespace, name, priorityClass: 'standard', requestMi, holdsMi };
    });
  const refusedMi = CRITICAL_QUOTA_MI + between(1, 4) * 64;
  const services = shuffle([critical, ...standard], random);
  const refused = {
    ...critical,
    namespace: teamB,
    name: pick(REFUSED_NAMES, random),
    requestMi: refusedMi,
    holdsMi: 0,
  };
  const hog: PlannedPod = {
    ...critical,
    namespace: teamB,
    name: pick(HOG_NAMES, random),
    priorityClass: 'batch',
    image: 'demo/hog',
    requestMi: between(64, 128),
    holdsMi: between(16, 48),
    growsMiPerSecond: Math.round(between(90, 130) * pace),
  };
  const job = { ...critical, requestMi: JOB_REQUEST_MI, milliCpu: JOB_MILLI_CPU, holdsMi: 0 };
  const preemption: PlannedPreemption = {
    optedOut: { ...job, namespace: teamB, name: pick(LONG_JOB_NAMES, random), priorityClass: 'long-jobs' },
    yielding: { ...job, namespace: teamA, name: pick(BATCH_NAMES, random), priorityClass: 'batch' },
    newcomer: { ...job, namespace: teamA, name: pick(NEW_NAMES, random), priorityClass: 'standard' },
  };
  return { services, refused, preemption, hog };
}

/** Numbers in [0, 1) that depend on the seed alone (Mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick(names: readonly string[], random: () => number): string {
  return names[Math.floor(random() * names.length)] ?? '';
}

function shuffle<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ item }) => item);
}
