import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostPort } from '#shared/runtime/host-port.ts';
import { LOOPBACK } from '#test/build/loopback.ts';

/** What stands in for the kubelet of a node that is only an object: it answers every request with the summary of then. */
export interface FakeKubelet {
  readonly url: string;
  close(): Promise<void>;
}

const MEBIBYTE = 1_048_576;

/** A pod and what it uses. */
export interface MeasuredPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly mebibytes: number;
}

/** Serves on loopback, in the clear. */
export async function startFakeKubelet(summary: () => object): Promise<FakeKubelet> {
  const server = createServer((_, response) => response.end(JSON.stringify(summary())));
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  return {
    url: `http://${hostPort(LOOPBACK, (server.address() as AddressInfo).port)}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A node's `/stats/summary`: its memory, and that of its pods. */
export function memorySummary(
  nodeName: string,
  { availableMebibytes, capacityMebibytes }: { availableMebibytes: number; capacityMebibytes: number },
  pods: readonly MeasuredPod[],
): { readonly node: object; readonly pods: readonly object[] } {
  const time = new Date().toISOString();
  const memory = {
    time,
    availableBytes: availableMebibytes * MEBIBYTE,
    workingSetBytes: (capacityMebibytes - availableMebibytes) * MEBIBYTE,
  };
  return { node: { nodeName, memory }, pods: pods.map((pod) => podStats(pod, time)) };
}

function podStats({ mebibytes, ...podRef }: MeasuredPod, time: string): object {
  const memory = { time, workingSetBytes: mebibytes * MEBIBYTE };
  return { podRef, memory, containers: [{ name: 'main', memory }] };
}
