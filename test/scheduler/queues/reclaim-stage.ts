import { HOUR_MS } from '#shared/domain/base/durations.ts';
import type { EventRecord } from '#shared/kube/events/event-recorder.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import type { ReclaimSettings } from '#shared/domain/queue/reclaim-settings.ts';
import { Reclaim, type ReclaimPorts } from '#scheduler/queues/reclaim.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, type NodeSizes, queueFor, queueWorld, type WatchedPod } from '#test/shared/decide/queues/queue-world.ts';

/** When every stage begins, in the seconds of its pods. */
export const HOUR = 3_600;
export const OK: Outcome<unknown> = { kind: 'ok', object: { metadata: { name: 'x' } }, warnings: [] };
export const RUNNING = { node: 'node-0', phase: 'Running', mayBePreempted: true, admittedTo: 'other' } as const;
/** It waits behind its gate. */
export const GATED: WatchedPod = { name: 'taker', cpu: 2, gates: [GATE] };
/** It was let in and has no node. */
export const UNGATED: WatchedPod = { name: 'taker', cpu: 2, admittedTo: 'of-shop', mayPreempt: true };

/** Queue `of-shop` has a guarantee, `other` has none. */
export function twoQueues(guaranteed = 4): readonly object[] {
  return [queueFor('shop', { guaranteed: { cpu: guaranteed } }), queueFor('x', {}, 'other')];
}

export interface StageSettings {
  readonly queues?: readonly object[];
  readonly nodes?: NodeSizes;
  readonly mode?: ReclaimSettings['mode'];
  readonly overuse?: ReclaimSettings['overuse'];
  readonly ownerDisruptedAt?: ReclaimPorts['ownerDisruptedAt'];
  readonly evictedBefore?: ReclaimPorts['evictedBefore'];
}

interface Answer {
  (what: string): Outcome<unknown> | Promise<Outcome<unknown>>;
}

/** A leader that makes room, the cluster that its watch shows, and everything that it sends and says. */
export function reclaimStage(settings: StageSettings = {}) {
  const { queues = twoQueues(), nodes, mode = 'Enforce', overuse = 'Keep', ownerDisruptedAt } = settings;
  const world = queueWorld(queues, nodes);
  const manual = manualClock(HOUR_MS);
  const state = { isHeld: true, answer: (() => OK) as Answer, reclaim: { mode, overuse } };
  const said = {
    sent: [] as string[],
    letIn: [] as string[],
    events: [] as EventRecord[],
    lines: [] as unknown[],
    gangs: [] as string[],
  };
  const { client, requests } = scriptedClient((request) => {
    const what = inShort(request);
    said.sent.push(what);
    return state.answer(what);
  });
  const leading = new AbortController();
  const metrics = createMetrics('scheduler');
  const reclaim = new Reclaim({
    client,
    clock: manual,
    settings: () => state.reclaim,
    ownerDisruptedAt,
    ...(settings.evictedBefore !== undefined && { evictedBefore: settings.evictedBefore }),
    pods: world.pods,
    snapshot: world.snapshot,
    leading: leading.signal,
    log: logInto(said.lines),
    metrics: createQueueMetrics(metrics),
    events: { record: (event) => void said.events.push(event) },
    term: { isHeld: () => state.isHeld },
    letIn: (pods) => Promise.resolve(void said.letIn.push(...pods.map(({ name }) => name))),
    gangs: {
      isStarting: () => false,
      standAside: (gang, { code }) => void said.gangs.push(`${gang} stands aside: ${code}`),
      start: (wholes) => Promise.resolve(void said.gangs.push(...wholes.map(({ name }) => `${name} starts`))),
    },
  });
  const begin = () => reclaim.round(world.plan(state.reclaim.mode === 'Enforce'), leading.signal);
  return {
    ...world,
    manual,
    state,
    requests,
    metrics,
    reclaim,
    leading,
    begin,
    /** What it has sent and whom it has let in; what is told once is not told again. */
    told: (what: 'sent' | 'letIn' | 'events' | 'lines' | 'gangs') => said[what].splice(0),
    /** A round after some time, with all that it sends. */
    round: async (afterMs = 0): Promise<readonly string[]> => {
      await manual.advance(afterMs);
      await begin();
      await reclaim.settled();
      return said.sent.splice(0);
    },
  };
}

/** `set POD NODE`, `clear POD` or `evict POD`. */
function inShort({ method, path, body }: KubeRequest): string {
  const [, name = '', subresource] = /\/pods\/([^/]+)\/(\w+)$/.exec(path) ?? [];
  if (method === 'POST' && subresource === 'eviction') return `evict ${name}`;
  return at(body, 'status.nominatedNodeName') === null
    ? `clear ${name}`
    : `set ${name} ${textAt(body, 'status.nominatedNodeName')}`;
}

function logInto(lines: unknown[]) {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return createLog({ component: 'scheduler', level: 'info', format: 'json', destination });
}

/** A stage on whose node pods of the queue `other` stand in the way of the taker. */
export function fullStage(taker: WatchedPod = GATED, change: Partial<WatchedPod> = {}, settings: StageSettings = {}) {
  const stage = reclaimStage(settings);
  fill(stage, 8, change);
  stage.see(taker);
  return stage;
}

/** `pod-0` to `pod-N`. */
export function fill(
  { see }: Pick<ReturnType<typeof queueWorld>, 'see'>,
  count: number,
  change: Partial<WatchedPod> = {},
): void {
  for (let index = 0; index < count; index += 1) see({ name: `pod-${index}`, ...RUNNING, ...change });
}
