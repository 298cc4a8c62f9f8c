let version = 100;

/** The report of a node, another one in each call. */
export function pressureOf(index: number): object {
  const observedAt = new Date().toISOString();
  const next = Array.from({ length: 10 }, (_, place) => ({
    pod: `team-${(index + place) % 200}/web-${index}-${place}`,
    uid: `00000000-0000-4000-8000-${String(index * 10 + place).padStart(12, '0')}`,
    priority: place * 100,
    usage: '512Mi',
    request: '212Mi',
    because: {
      code: 'ExceedsRequests',
      text: `uses 512Mi memory, over its request of 212Mi, priority ${place * 100}; before team-1/web: its priority is lower`,
      facts: { signal: 'memory.available', usage: '512Mi', request: '212Mi', priority: place * 100 },
    },
  }));
  const signals = ['memory.available', 'allocatableMemory.available', 'nodefs.available', 'pid.available'].map(
    (name) => ({
      name,
      state: index % 50 === 0 ? 'Soft' : 'Far',
      available: `${4_000 + (version % 97)}Mi`,
      capacity: '16Gi',
      threshold: '500Mi',
      since: observedAt,
      observedAt,
    }),
  );
  const conditions = ['Memory', 'Cpu', 'Io', 'Pid', 'SourcesAgree', 'PoliciesRead'].map((type) => ({
    type,
    status: 'False',
    reason: 'NoPressure',
    message: 'The node is not under pressure',
    lastTransitionTime: observedAt,
  }));
  version += 1;
  return {
    metadata: { name: `node-${index}`, uid: `np-${index}`, resourceVersion: String(version) },
    status: { observedAt, mode: 'Enforce', policy: 'default', conditions, signals, next, evictions: [] },
  };
}

export function rawEvent(index: number): object {
  const name = `web-${index}`;
  return {
    metadata: { name: `${name}.1`, namespace: `team-${index % 200}`, uid: `event-${index}`, resourceVersion: '1' },
    reason: index % 2 === 0 ? 'Evicted' : 'Preempted',
    regarding: { kind: 'Pod', name, namespace: `team-${index % 200}` },
    note: 'The node was low on resource: memory. Threshold quantity: 250Mi, available: 200Mi.',
    eventTime: new Date(Date.now() - index * 1_000).toISOString(),
    reportingController: 'plimsoll.dev/agent',
  };
}

export function rawQuota(index: number): object {
  const spec = { priorityClassNames: [`class-${index % 5}`], hard: { 'requests.memory': '2Ti', pods: '400' } };
  const status = { used: { 'requests.memory': '1Ti', pods: '120' } };
  return { metadata: { name: `tier-${index}`, uid: `quota-${index}`, resourceVersion: '1' }, spec, status };
}

export function rawQueue(index: number): object {
  const spec = { guaranteed: { cpu: '10', memory: '20Gi' }, namespaceSelector: { matchLabels: { team: `${index}` } } };
  return { metadata: { name: `queue-${index}`, uid: `queue-${index}`, resourceVersion: '1' }, spec };
}

/** The record of a pod that was evicted. */
export function rawRecord(index: number): object {
  const pod = `web-${index}`;
  const [namespace, node] = [`team-${index % 200}`, `node-${index % 500}`];
  const removedAt = new Date(Date.now() - index * 1_000).toISOString();
  const labels = { 'plimsoll.dev/pod-uid': `record-${index}` };
  const because = { code: 'ExceedsRequests', text: 'uses 512Mi memory, over its request of 212Mi', facts: {} };
  return {
    metadata: {
      name: pod,
      namespace,
      uid: `record-${index}`,
      resourceVersion: '1',
      creationTimestamp: removedAt,
      labels,
    },
    spec: { pod, podUID: `record-${index}`, node, priority: 0, cause: 'NodePressure', removedAt, because },
    status: {},
  };
}
