import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { runProgram } from '#test/cluster/support/run-program.ts';
import { markedProcesses } from '#test/cluster/support/run/run-processes.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { installAgent, readyAgents } from './agent-on-node.ts';
import { askKubelet } from './ask-kubelet.ts';
import { call } from './kube-calls.ts';
import { BATCH, batchPod, lentRoomOnNode } from './lent-room-on-node.ts';
import { podPath } from './make-pod.ts';
import { NODE_NAME, SERVICE_PLACE } from './node-place.ts';
import { whyNoNode } from './start/node-programs.ts';
import { type NodeOfOurs, startNodeOf } from './start/start-node-of.ts';

/* Other programs of the machine leave no processor idle: the pod asks for memory alone. */
const MEBIBYTE = 1_048_576;
const NEVER = 300 * MEBIBYTE;
/** The agent has measured, and the controller has looked. */
const ROUND_MS = 12_000;
/** What was lent is right or withdrawn within this time of a fault. */
const PROMISED_MS = 90_000;
const AWAY_MS = 120_000;
const READY_MS = 240_000;
const TIMEOUT_MS = 400_000;
const OURS = '/apis/plimsoll.dev/v1alpha1';
const SPARE_CLASS = { metadata: { name: BATCH.className }, value: -100, preemptionPolicy: 'Never' };
const GRANT = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'PriorityPolicy',
  metadata: { name: 'batch' },
  spec: { runOn: 'Spare', sparePriorityClassNames: [BATCH.className] },
};

const why = whyNoNode(process.env);

describe.skipIf(why !== undefined)(
  `room that a real node lends, as deploy/overlays/node-controller installs it${why ?? ''}`,
  { timeout: TIMEOUT_MS },
  () => {
    let node: NodeOfOurs;
    let client: KubeClient;
    const room = lentRoomOnNode(
      () => node,
      () => client,
    );
    const { get, offered, expectOffered, expectUntouched } = room;

    beforeAll(async () => {
      node = await startNodeOf('native');
      client = await testClient(node.kubeconfig);
      await installAgent(node, client, 'overlays/node-controller');
      return async () => {
        client.close();
        await node.close();
      };
    }, TIMEOUT_MS);

    // Each test builds on those before it.
    let hasFailed = false;
    beforeEach(({ skip, onTestFailed }) => {
      skip(hasFailed, 'a test before it failed');
      onTestFailed(() => {
        hasFailed = true;
      });
    });

    test('begins with a history of less than an hour, and lends nothing', async () => {
      await eventually(async () => expect(await readyAgents(client)).toBe(1), READY_MS);
      await room.applyThreshold(NEVER);
      await eventually(async () => {
        const { spare } = await room.status();
        expect(spare).toMatchObject({ mode: 'Enforce', memory: { because: { code: 'NoHistory' }, lent: 0 } });
        expect(spare.memory.used).toBeGreaterThan(0);
      }, PROMISED_MS);
      expect(await offered()).toBeUndefined();
    });

    test('lends what its agent measures once that has two hours of history, as an agent before it wrote them', async () => {
      const pid = await room.agentProcess();
      process.kill(pid, 'SIGSTOP');
      const written = await room.writeTwoHours();
      process.kill(pid, 'SIGKILL');
      await eventually(async () => {
        const { memory, since } = (await room.status()).spare;
        expect(memory.because.code).toBe('Room');
        // By another clock.
        expect(Math.abs((since ?? 0) - (written.since ?? Infinity))).toBeLessThan(ROUND_MS);
        await expectOffered();
      }, PROMISED_MS);
      expect(await offered()).toBeGreaterThan(BATCH.requested);
    });

    test('runs a pod of a class with runOn: Spare in it, where the stock scheduler places it', async () => {
      await call(client, { method: 'POST', path: '/apis/scheduling.k8s.io/v1/priorityclasses', body: SPARE_CLASS });
      await call(client, { method: 'POST', path: `${OURS}/prioritypolicies`, body: GRANT });
      const path = podPath(BATCH).slice(0, -BATCH.name.length - 1);
      const query = { dryRun: 'All' };
      await eventually(async () => {
        const moved = await call(client, { method: 'POST', path, query, body: batchPod() });
        expect(at(moved, 'spec.containers.0.resources.requests')).toMatchObject({ memory: '0' });
      }, PROMISED_MS);
      await call(client, { method: 'POST', path, body: batchPod() });
      await eventually(async () => {
        const pod = await get(podPath(BATCH));
        expect(at(pod, 'spec')).toMatchObject({ schedulerName: 'default-scheduler', nodeName: NODE_NAME });
        expect(at(pod, 'status.qosClass')).toBe('BestEffort');
        expect((await askKubelet(client)).workingSets.get('default/batch')).toBeGreaterThan(BATCH.mebibytes * MEBIBYTE);
        room.runs(textAt(pod, 'metadata.uid'));
      }, PROMISED_MS);
      await eventually(expectOffered, PROMISED_MS);
      await expectUntouched();
    });

    test('keeps the pod and the amounts when the kubelet is started again', async () => {
      await node.restart('kubelet');
      await letTimePass(ROUND_MS, 'watched');
      await eventually(room.expectOfferedOrNothing, PROMISED_MS);
      await expectUntouched();
    });

    test('keeps the pod when the agent is killed, and lends as before within 90 s', async () => {
      process.kill(await room.agentProcess(), 'SIGKILL');
      await eventually(async () => {
        await room.agentProcess();
        expect(await readyAgents(client)).toBe(1);
        await expectOffered();
      }, PROMISED_MS);
      await expectUntouched();
    });

    test('lends nothing 90 s after the agent has hung, and as much again once it goes on', async () => {
      const pid = await room.agentProcess();
      process.kill(pid, 'SIGSTOP');
      await eventually(async () => expect(await offered()).toBeUndefined(), PROMISED_MS);
      process.kill(pid, 'SIGCONT');
      await expectUntouched();
      await eventually(expectOffered, PROMISED_MS);
    });

    test('lends nothing 90 s after the agent was cut off from the API server, of which the kubelet knows nothing', async () => {
      const inPod = ['--target', String(await room.agentProcess()), '--net', 'ip', 'route'];
      const route = ['unreachable', `${SERVICE_PLACE.host}/32`];
      runProgram('nsenter', [...inPod, 'add', ...route]);
      await eventually(async () => expect(await offered()).toBeUndefined(), PROMISED_MS);
      await expectUntouched();
      runProgram('nsenter', [...inPod, 'delete', ...route]);
      await eventually(expectOffered, PROMISED_MS);
      await expectUntouched();
    });

    test('keeps the pod when every controller is killed, and the amounts are right within 90 s', async () => {
      const killed = await room.processesOf('controller');
      expect(killed).toHaveLength(2);
      for (const pid of killed) process.kill(pid, 'SIGKILL');
      await eventually(async () => {
        expect(await room.processesOf('controller')).toHaveLength(2);
        await expectOffered();
      }, PROMISED_MS);
      await expectUntouched();
    });

    test('keeps the pod when the API server hangs for two minutes, and 90 s later the amounts are right or withdrawn', async () => {
      const servers = markedProcesses(node.folder).filter((pid) =>
        readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('kube-apiserver'),
      );
      expect(servers).toHaveLength(1);
      for (const pid of servers) process.kill(pid, 'SIGSTOP');
      await letTimePass(AWAY_MS, 'load');
      for (const pid of servers) process.kill(pid, 'SIGCONT');
      await letTimePass(PROMISED_MS, 'watched');
      await room.expectOfferedOrNothing();
      await eventually(expectOffered, PROMISED_MS);
      await expectUntouched();
    });
  },
);
