import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ANNOTATION_CONFIRMED_GENERATION } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { agentPod, agentRestarts, pressureStatus } from './agent-on-node.ts';
import { WORKLOAD_IMAGE } from './image/workload-image.ts';
import { call } from './kube-calls.ts';
import { podPath } from './make-pod.ts';
import type { MoveScene } from './move-tests.ts';
import { NODE_NAME } from './node-place.ts';

const BURNING = podPath({ name: 'burning' });
const LIMIT = 'spec.containers.0.resources.limits.cpu';
const APPLIED = 'status.containerStatuses.0.resources.limits.cpu';
const RESTARTS = 'status.containerStatuses.0.restartCount';
/** A machine that runs this is busy, so the rule is met; no more than the request is left to the pod. */
const RULES = {
  mode: 'Enforce',
  evictionHard: {},
  pressure: [{ signal: 'cpu.pressure', stall: 'some', avg10: '0.1%', avg60: '0.1%' }],
  cpu: { mode: 'DryRun', available: '100%' },
};
const THROTTLES = { ...RULES, cpu: { ...RULES.cpu, mode: 'Enforce' }, relief: ['ThrottleCPU', 'Evict'] };

/** It may be met already when it arrives, so it is confirmed. */
async function applyRules(client: KubeClient, spec: object): Promise<void> {
  const write = async (annotations: object): Promise<unknown> => {
    const body = {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'NodePressurePolicy',
      metadata: { name: NODE_NAME, annotations },
      spec,
    };
    const query = { fieldManager: 'plimsoll-test', force: true };
    const path = `/apis/plimsoll.dev/v1alpha1/nodepressurepolicies/${NODE_NAME}`;
    const contentType = 'application/apply-patch+yaml';
    return at(await call(client, { method: 'PATCH', path, query, contentType, body }), 'metadata.generation');
  };
  await write({ [ANNOTATION_CONFIRMED_GENERATION]: String(await write({})) });
}

async function makeBurningPod(client: KubeClient): Promise<void> {
  const resources = { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '2', memory: '64Mi' } };
  const containers = [{ name: 'main', image: WORKLOAD_IMAGE, args: ['spin', '1'], resources }];
  const spec = { terminationGracePeriodSeconds: 5, tolerations: [{ operator: 'Exists' }], containers };
  const path = BURNING.slice(0, BURNING.lastIndexOf('/'));
  await call(client, { method: 'POST', path, body: { metadata: { name: 'burning' }, spec } });
}

/** What a real kubelet makes of lowered limits, on a machine whose processes the test sees. */
export function throttleTests({ client, within }: MoveScene): void {
  const limits = async (): Promise<readonly unknown[]> => {
    const pod = await call(client(), { path: BURNING });
    return [LIMIT, APPLIED, RESTARTS].map((path) => at(pod, path));
  };
  const lowered = ['101m', '101m', 0];
  const whole = ['2', '2', 0];

  test('lowers the CPU limit of a pod that burns, and gives it back when the policy no longer says so', async () => {
    await makeBurningPod(client());
    await applyRules(client(), THROTTLES);
    await within(90, async () => expect(await limits()).toEqual(lowered));
    const { throttled } = await pressureStatus(client());
    expect(throttled).toMatchObject([{ pod: 'default/burning', before: 2000, to: 101 }]);
    await applyRules(client(), RULES);
    await within(10, async () => expect(await limits()).toEqual(whole));
    await within(5, async () => expect((await pressureStatus(client())).throttled).toEqual([]));
  });
}

/** The last test, since the agent does not run all along. */
export function killedAgentTest({ client, within }: MoveScene): void {
  test('after kill -9 the next agent gives back what the killed one lowered', async () => {
    const restarts = Number(await agentRestarts(client()));
    await applyRules(client(), THROTTLES);
    const limit = async (): Promise<unknown> => at(await call(client(), { path: BURNING }), LIMIT);
    await within(90, async () => expect(await limit()).toBe('101m'));
    for (const pid of processesOf(textAt(await agentPod(client()), 'metadata.uid'))) process.kill(pid, 'SIGKILL');
    await within(30, async () => expect(await limit()).toBe('2'));
    expect(await within(10, () => agentRestarts(client()))).toBe(restarts + 1);
  });
}

/** Processes of the pod that run Node; its pause container stays. */
function processesOf(podUid: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const read = (file: string): string => {
      try {
        return readFileSync(`/proc/${name}/${file}`, 'utf8');
      } catch {
        return '';
      }
    };
    return read('cgroup').includes(podUid) && read('cmdline').includes('agent') ? [Number(name)] : [];
  });
}
