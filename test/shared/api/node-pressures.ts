import fc from 'fast-check';

const word = fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/);
const time = fc.integer({ min: 0, max: 2 ** 41 }).map((at) => new Date(at).toISOString());
const mode = fc.constantFrom('DryRun', 'Enforce');
const facts = fc.dictionary(word, fc.oneof(fc.string(), fc.integer(), fc.boolean()), { maxKeys: 5 });
const because = fc.record({ code: word, text: word, facts });
const pod = fc.tuple(word, word).map((names) => names.join('/'));

const owner = fc.record(
  { namespace: word, kind: word, name: word, uid: fc.uuid() },
  { requiredKeys: ['namespace', 'kind', 'name'] },
);
const avoid = fc.record({
  owner,
  until: time,
  cause: word,
  hard: fc.boolean(),
});
const preemptionLoop = fc
  .record(
    {
      preemptor: owner,
      victim: owner,
      preemptorUid: fc.uuid(),
      rounds: fc.array(time, { minLength: 1, maxLength: 16 }).map((times) => times.toSorted()),
      action: fc.constantFrom('Report', 'Refuse', 'Avoid'),
    },
    { requiredKeys: ['preemptor', 'victim', 'rounds'] },
  )
  .map((entry) => ({ ...entry, until: entry.rounds.at(-1) }));
const condition = fc.record(
  {
    type: word,
    status: fc.constantFrom('True', 'False', 'Unknown'),
    reason: word,
    message: word,
    lastTransitionTime: time,
  },
  { requiredKeys: ['type', 'status', 'reason', 'message'] },
);
const signal = fc.record(
  {
    name: word,
    available: word,
    reclaimable: word,
    figure: fc.constantFrom('Reclaimable', 'Kubelet'),
    capacity: word,
    threshold: word,
    state: fc.constantFrom('Far', 'Near', 'Soft', 'Hard'),
    since: time,
    observedAt: time,
  },
  { requiredKeys: ['name', 'state'] },
);
const next = fc.record(
  { pod, uid: fc.uuid(), priority: fc.integer(), usage: word, request: word, because },
  { requiredKeys: ['pod', 'uid', 'because'] },
);
const eviction = fc.record(
  {
    pod,
    uid: fc.uuid(),
    owner: fc.tuple(word, word, word).map((names) => names.join('/')),
    signal: word,
    stage: word,
    outcome: fc.tuple(word, mode).map(([outcome, as]) => (as === 'DryRun' ? `${outcome} (dry run)` : outcome)),
    requestedAt: time,
    endedAt: time,
    because,
  },
  { requiredKeys: ['pod', 'uid', 'signal', 'stage', 'outcome', 'because'] },
);
const percent = fc.integer({ min: 0, max: 100 });
const figures = fc.record(
  {
    pod,
    uid: fc.uuid(),
    cpu: word,
    memory: word,
    waiting: fc.record({ cpu: percent, memory: percent, io: percent }, { requiredKeys: [] }),
    oomKills: fc.nat(),
  },
  { requiredKeys: ['pod', 'uid', 'waiting'] },
);
const rule = fc.record(
  { rule: word, confirmed: fc.boolean(), policy: word, generation: fc.nat() },
  { requiredKeys: ['rule', 'confirmed'] },
);
const status = fc.record(
  {
    observedAt: time,
    observedGeneration: fc.nat(),
    mode,
    policy: word,
    agent: fc.record({ version: word, pod }),
    conditions: fc.array(condition, { maxLength: 16 }),
    signals: fc.array(signal, { maxLength: 32 }),
    next: fc.array(next, { maxLength: 10 }),
    evictions: fc.array(eviction, { maxLength: 32 }),
    pods: fc.array(figures, { maxLength: 20 }),
    rules: fc.array(rule, { maxLength: 32 }),
  },
  { requiredKeys: ['mode', 'conditions', 'signals', 'next', 'evictions'] },
);
/** Objects as an agent of any version writes them, parts left out. */
export const nodePressures = fc.record(
  {
    apiVersion: fc.constant('plimsoll.dev/v1alpha1'),
    kind: fc.constant('NodePressure'),
    metadata: fc.record({ name: word, resourceVersion: word }, { requiredKeys: ['name'] }),
    spec: fc.oneof(
      fc.record({ avoid: fc.array(avoid, { minLength: 1, maxLength: 64 }) }),
      fc.record({ preemptionLoops: fc.array(preemptionLoop, { minLength: 1, maxLength: 10 }) }),
    ),
    status,
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata'] },
);
