import { createThrottle } from '#agent/throttle.ts';
import type { ThrottledEntry } from '#shared/api/node-pressure.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { FailureKind, Outcome } from '#shared/kube/client/outcome.ts';
import type { EventRecord } from '#shared/kube/events/event-recorder.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { type CpuScene, burning, cpuPass } from '#test/shared/decide/throttle/cpu-scene.ts';

const SIGNAL = new AbortController().signal;
export const SHORT: CpuScene = { pods: [burning('hog', 3000)] };
/** The throttle of node-a between an API server with one pod and a status that is written at once. */
export function rig({
  pod = {},
  annotations = {},
  previous,
}: {
  readonly pod?: object;
  readonly annotations?: object;
  readonly previous?: readonly ThrottledEntry[] | undefined;
} = {}) {
  const [clock, events] = [manualClock(), [] as EventRecord[]];
  const state = {
    scene: SHORT,
    previous,
    limit: '4',
    uid: 'uid-hog',
    version: 1,
    conditions: [] as object[],
    isApplying: true,
    applied: '4',
    quotas: [] as object[],
    refusal: undefined as FailureKind | undefined,
    isLost: false,
    isUnreachable: false,
    isWriting: true,
    /** When the node was measured last, if that was not just now. */
    measuredAt: undefined as number | undefined,
    phase: 'Running',
    written: [] as readonly ThrottledEntry[],
  };

  function podNow(): object {
    const resources = { requests: { cpu: '500m' }, limits: { cpu: state.limit } };
    const status = { name: 'main', resources: { limits: { cpu: state.applied } } };
    return {
      metadata: {
        namespace: 'default',
        name: 'hog',
        uid: state.uid,
        resourceVersion: String(state.version),
        annotations,
      },
      spec: { nodeName: 'node-a', containers: [{ name: 'main', resources, ...pod }] },
      status: { phase: state.phase, conditions: state.conditions, containerStatuses: [status] },
    };
  }

  function resize({ body, query }: KubeRequest): Outcome<unknown> {
    const { metadata, spec } = body as {
      metadata: { resourceVersion: string };
      spec: { containers: { resources: { limits: { cpu: string } } }[] };
    };
    if (state.refusal !== undefined) return { kind: state.refusal, message: 'refused' };
    if (metadata.resourceVersion !== String(state.version)) return { kind: 'conflict', message: 'changed' };
    if (query?.['dryRun'] === undefined) {
      state.limit = spec.containers[0]?.resources.limits.cpu ?? '';
      if (state.isApplying) state.applied = state.limit;
      state.version += 1;
    }
    return state.isLost ? { kind: 'timeout', message: 'no answer' } : { kind: 'ok', object: podNow(), warnings: [] };
  }

  function answer(request: KubeRequest): Outcome<unknown> {
    if (state.isUnreachable) return { kind: 'unreachable', message: 'refused' };
    if (request.path.endsWith('/resize')) return resize(request);
    const isList = request.path.endsWith('quotas');
    return { kind: 'ok', object: isList ? { metadata: {}, items: state.quotas } : podNow(), warnings: [] };
  }

  const { client, requests } = scriptedClient(answer);
  const throttle = createThrottle({
    client,
    nodeName: 'node-a',
    lastResult: () => cpuPass(state.scene, state.measuredAt ?? clock.monotonic()),
    previousStatus: () => ({ throttled: state.previous }),
    written: () => state.written,
    recorder: { record: (event) => void events.push(event) },
    log: { info: () => undefined, warn: () => undefined },
    clock,
  });
  const { turn, status } = throttle;
  /** So many seconds, with the status written after each turn as the publisher does. */
  async function seconds(count: number): Promise<void> {
    for (let second = 0; second < count; second += 1) {
      await turn(SIGNAL);
      if (state.isWriting) state.written = status() ?? [];
      await clock.advance(1000);
    }
  }
  const resizes = () => requests.filter(({ path }) => path.endsWith('/resize'));
  return { state, throttle, seconds, resizes, reasons: () => events.map(({ reason }) => reason), requests, clock };
}
