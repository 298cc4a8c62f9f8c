import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach } from 'vitest';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { type AgentProcess, startAgent } from './agent-process.ts';
import { passesOf } from './passes-of.ts';
import { wireSummary } from './wire-node.ts';

const POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
const NODES = '/api/v1/nodes';
const NODE_PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const CAPACITY_MIB = 1000;
const FLAGS = [
  '--source=summary',
  '--warm-up-ms=0',
  '--period-near-ms=20',
  '--period-far-ms=100',
  '--period-pods-ms=100',
  '--period-status-ms=1000',
];

/** What a process starts with; everything is gone when it has stopped. */
export interface SummaryNodeStart {
  readonly pods: readonly StoredObject[];
  readonly policy: object;
  readonly metadata?: object;
  /** Of the policy. */
  readonly recorded?: object;
  /** The status that a previous process wrote. */
  readonly status?: object | undefined;
  readonly flags?: readonly string[];
  /** Of the node's kernel, as its kubelet posts it. */
  readonly bootID?: string | undefined;
}

/** A node whose kubelet says how much memory is available, with the agent as a separate process. */
export function summaryNode() {
  const node = { availableMiB: CAPACITY_MIB, usageMiB: {}, ageMs: 0 } as {
    availableMiB: number;
    /** Of the kubelet's figures. */
    ageMs: number;
    usageMiB: Readonly<Record<string, number>>;
    agent: AgentProcess;
  };
  let kubelet: ReturnType<typeof createServer>;
  let isRunning = false;

  beforeEach(async () => {
    kubelet = createServer((_request, response) =>
      response.end(JSON.stringify(wireSummary(node.availableMiB, CAPACITY_MIB, node.usageMiB, node.ageMs))),
    );
    await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await stop();
    kubelet.closeAllConnections();
    kubelet.close();
  });

  async function start({
    pods,
    policy,
    metadata,
    recorded,
    status,
    flags = [],
    bootID,
  }: SummaryNodeStart): Promise<void> {
    const { port } = kubelet.address() as AddressInfo;
    const stored: [string, StoredObject][] = [
      [POLICIES, { metadata: { name: 'batch', generation: 1, ...metadata }, spec: policy, status: recorded }],
    ];
    if (bootID !== undefined)
      stored.push([NODES, { metadata: { name: 'n1', uid: 'uid-n1' }, status: { nodeInfo: { bootID } } }]);
    if (status !== undefined) stored.push([NODE_PRESSURES, { metadata: { name: 'n1' }, status }]);
    const all = [...FLAGS, `--kubelet-url=http://127.0.0.1:${port}`, ...flags];
    node.agent = await startAgent(pods, all, undefined, undefined, stored);
    isRunning = true;
  }

  async function stop(): Promise<void> {
    if (isRunning) await node.agent.stop();
    isRunning = false;
  }

  function setPolicy(policy: object, metadata: object, recorded?: object): void {
    node.agent.api.put(POLICIES, { metadata: { name: 'batch', ...metadata }, spec: policy, status: recorded });
  }

  /** Names of the pods that the agent asked to evict, without dry runs. */
  function asked(): readonly string[] {
    const real = node.agent.api.writes.filter(({ path, isDryRun }) => path.endsWith('/eviction') && !isDryRun);
    return real.map(({ path }) => path.split('/').at(-2) ?? '');
  }

  function status(): Record<string, unknown> | undefined {
    const isStatus = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
      method === 'PATCH' && path.startsWith(NODE_PRESSURES);
    return node.agent.api.writes.findLast(isStatus)?.body['status'] as Record<string, unknown> | undefined;
  }

  function condition(type: string): object | undefined {
    const conditions = status()?.['conditions'] as { readonly type: string }[] | undefined;
    return conditions?.find((each) => each.type === type);
  }

  const passes = (): Promise<number> => passesOf(node.agent.url);
  return Object.assign(node, { start, stop, setPolicy, asked, status, condition, passes });
}
