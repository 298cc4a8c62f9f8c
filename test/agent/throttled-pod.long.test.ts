import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '#test/build/waiting.ts';
import { at } from '#test/contract/harness.ts';
import { agentRig } from './agent-rig.ts';
import { type TemporaryTree, temporaryTree } from './observe/temporary-tree.ts';
import { wirePod, wireSummary } from './wire-node.ts';

const FACTOR = 5;
const BOOT_ID = '0d6a1f9e-8a3c-4f44-9a55-2f6f0c1e7b10';
const PODS = '/api/v1/pods';
const NODE_PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
const CPUS = 4;
const TICKS_PER_MS = 0.1;
const SPEC = {
  mode: 'Enforce',
  evictionHard: {},
  pressure: [{ signal: 'cpu.pressure', stall: 'some', avg10: '50%', avg60: '40%' }],
  cpu: { mode: 'Enforce' },
};
const rig = agentRig(FACTOR);

/** The /proc of a node of four processors, whose counters grow at the agent's pace. */
function busyNode() {
  const state = { busyCpus: CPUS, waiting: 0.9 };
  const total = { busy: 0, waited: 0 };
  let latest = performance.now();
  let tree: TemporaryTree;
  let timer: NodeJS.Timeout;
  const write = (): void => {
    const passedMs = (performance.now() - latest) * FACTOR;
    latest = performance.now();
    total.busy += passedMs * TICKS_PER_MS * state.busyCpus;
    total.waited += passedMs * 1000 * state.waiting;
    const line = `${Math.round(total.busy)} 0 0 0 0 0 0 0 0 0`;
    tree.write('stat', [`cpu  ${line}`, ...[0, 1, 2, 3].map((cpu) => `cpu${cpu} ${line}`), 'ctxt 1', ''].join('\n'));
    tree.write('pressure/cpu', `some avg10=0.00 avg60=0.00 avg300=0.00 total=${Math.round(total.waited)}\n`);
  };
  beforeEach(() => {
    tree = temporaryTree({
      'sys/kernel/random/boot_id': `${BOOT_ID}\n`,
      meminfo: 'MemTotal: 1024000 kB\nMemFree: 900000 kB\nMemAvailable: 900000 kB\n',
    });
    Object.assign(state, { busyCpus: CPUS, waiting: 0.9 });
    write();
    timer = setInterval(write, 20);
  });
  afterEach(() => {
    clearInterval(timer);
    tree.remove();
  });
  return { state, root: () => tree.root };
}

describe('an agent whose policy says ThrottleCPU', { timeout: 120_000 }, () => {
  const node = busyNode();

  function summary(): object {
    const made = wireSummary(900, 1000, { hog: 50 }) as { pods: object[] };
    const cpu = { time: new Date().toISOString(), usageNanoCores: 3e9 };
    return { ...made, pods: made.pods.map((pod) => ({ ...pod, cpu })) };
  }
  const writes = (end: string) => rig.api.writes.filter(({ path }) => path.endsWith(end));
  const resized = () => writes('/resize').map(({ body }) => at(body, 'spec.containers.0.resources.limits.cpu'));

  test('shows the lower limit before it asks for it, and asks for the old one once CPU is idle', async () => {
    rig.summary = summary;
    rig.api.put('/api/v1/nodes', {
      metadata: { name: 'n1', uid: 'uid-n1' },
      status: { nodeInfo: { bootID: BOOT_ID } },
    });
    const pod = wirePod({ name: 'hog', requestMiB: 100 });
    const resources = { requests: { cpu: '500m', memory: '100Mi' }, limits: { cpu: '4' } };
    rig.api.put(PODS, {
      ...pod,
      spec: { ...(pod['spec'] as object), containers: [{ name: 'main', image: 'burn', resources }] },
    });
    const metadata = { name: 'p', generation: 1, annotations: { 'plimsoll.dev/confirmed-generation': '1' } };
    rig.api.put(POLICIES, { metadata, spec: { ...SPEC, relief: ['ThrottleCPU', 'Evict'] } });
    await rig.start({ path: { procfs: node.root() }, mode: 'Enforce' });
    await eventually(() => expect(resized()).toEqual(['1750m']), 60_000);
    const shown = rig.api.writes.findIndex(({ body }) => at(body, 'status.throttled.0.to') === 1750);
    expect(shown).toBeLessThan(rig.api.writes.findIndex(({ path }) => path.endsWith('/resize')));
    expect(shown).toBeGreaterThanOrEqual(0);
    Object.assign(node.state, { busyCpus: 1, waiting: 0 });
    await eventually(() => expect(resized().at(-1)).toBe('4000m'), 10_000);
    await eventually(() => expect(rig.status()['throttled']).toEqual([]), 10_000);
    expect(rig.events().map(({ reason }) => reason)).toEqual(['CPULimitLowered', 'CPULimitRestored']);
    expect(rig.evictions()).toEqual([]);
  });

  test('gives back what a killed agent wrote last, though its first read of the status did not show it', async () => {
    const because = { code: 'CpuLimitLowered', text: 'short', facts: {} };
    const at = '2026-01-01T00:00:00Z';
    const entry = {
      pod: 'default/hog',
      container: 'main',
      before: 4000,
      from: 4000,
      to: 1750,
      used: 3000,
      at,
      because,
    };
    const pod = wirePod({ name: 'hog', requestMiB: 100 });
    const { uid } = pod['metadata'] as { uid: string };
    const resources = { requests: { cpu: '500m', memory: '100Mi' }, limits: { cpu: '1750m' } };
    rig.summary = summary;
    rig.api.put(PODS, {
      ...pod,
      spec: { ...(pod['spec'] as object), containers: [{ name: 'main', image: 'burn', resources }] },
    });
    rig.api.put(NODE_PRESSURES, { metadata: { name: 'n1' }, status: { throttled: [] } });
    await rig.start({});
    await eventually(() => expect(rig.status()['signals']).toBeDefined(), 10_000);
    rig.api.put(NODE_PRESSURES, { metadata: { name: 'n1' }, status: { throttled: [{ uid, ...entry }] } });
    await eventually(() => expect(resized()).toEqual(['4000m']), 10_000);
  });
});
