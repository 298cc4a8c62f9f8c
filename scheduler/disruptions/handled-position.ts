import type { Removals } from '#shared/domain/disruption/removals.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { instantOf, textOf, timeText } from '#shared/api/fields.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { ClientContext, KubeClient } from '#shared/kube/client/client.ts';
import { createObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { fieldOf, itemsOf, jsonIn } from '#shared/kube/decode/wire-object.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ListWatch } from '#shared/kube/reflector/list-watch.ts';
import { CONFIG_MAPS } from '#shared/kube/resource.ts';

/** The position up to which every removal is recorded: the next process continues from it. */
export interface HandledPosition {
  /** The resourceVersion of the pods, as the watch has seen them. */
  readonly resourceVersion: string;
  readonly at: Instant;
}

/** A time span for which the API server no longer knew what happened to pods. */
export interface Gap {
  readonly from: Instant;
  readonly to: Instant;
}

/** The ConfigMap that stores the position. */
export interface PositionAddress {
  readonly name: string;
  readonly namespace: string;
}

const MAX_GAPS = 10;
const MAX_VERSION_LENGTH = 128;
const WRITE = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/** The stored position; none before the first write. Rejects if it cannot be read. */
export async function readPosition(
  client: KubeClient,
  address: PositionAddress,
  signal: AbortSignal,
): Promise<{ readonly position: HandledPosition | undefined; readonly gaps: readonly Gap[] }> {
  const found = await getObject(client, { resource: CONFIG_MAPS, ...address }, { timeoutMs: 5_000, signal });
  if (found.kind === 'notFound') return { position: undefined, gaps: [] };
  if (found.kind !== 'ok')
    throw new Error(`cannot read ConfigMap ${address.namespace}/${address.name}: ${found.message}`);
  const data = fieldOf(found.object, 'data');
  const resourceVersion = textOf(fieldOf(data, 'resourceVersion'), MAX_VERSION_LENGTH);
  const at = instantOf(fieldOf(data, 'at'));
  const isWhole = resourceVersion !== undefined && at !== undefined;
  return { position: isWhole ? { resourceVersion, at } : undefined, gaps: gapsIn(fieldOf(data, 'gaps')) };
}

function gapsIn(text: unknown): readonly Gap[] {
  return itemsOf(typeof text === 'string' ? jsonIn(text) : undefined).flatMap((each) => {
    const [from, to] = [instantOf(fieldOf(each, 'from')), instantOf(fieldOf(each, 'to'))];
    return from === undefined || to === undefined ? [] : [{ from, to }];
  });
}

/** Stores the position. */
function writePosition(
  client: KubeClient,
  address: PositionAddress,
  { resourceVersion, at }: HandledPosition,
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  return writeData(client, address, { resourceVersion, at: timeText(at) }, signal);
}

/** Stores the gaps, the last ten of them. */
export function writeGaps(
  client: KubeClient,
  address: PositionAddress,
  gaps: readonly Gap[],
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const kept = gaps.slice(-MAX_GAPS).map(({ from, to }) => ({ from: timeText(from), to: timeText(to) }));
  return writeData(client, address, { gaps: JSON.stringify(kept) }, signal);
}

/** The manifests contain the ConfigMap. If it is missing, it is created if permissions allow it. */
async function writeData(
  client: KubeClient,
  { name, namespace }: PositionAddress,
  data: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const patched = await patchObject(
    client,
    { resource: CONFIG_MAPS, name, namespace },
    { data },
    { ...WRITE, type: 'merge', signal },
  );
  if (patched.kind !== 'notFound') return patched;
  const object = { apiVersion: 'v1', kind: CONFIG_MAPS.kind, metadata: { name, namespace }, data };
  return createObject(client, { resource: CONFIG_MAPS, namespace }, object, { ...WRITE, signal });
}

/** Bounded, so that a removal which waits for reports of others holds the position back only for some seconds. */
const MAX_SAMPLES = 60;

/** Remembers positions of the watch, and returns the one up to which everything is recorded. */
class HandledPositions {
  #samples: readonly HandledPosition[] = [];

  /** The watch has reached this position. */
  note(position: HandledPosition): void {
    this.#samples = [...this.#samples, position].slice(-MAX_SAMPLES);
  }

  /** The last position before the removal that has been waiting longest, or the last one of all if none waits. */
  handled(unrecordedSince: Instant | undefined): HandledPosition | undefined {
    return this.#samples.findLast(({ at }) => unrecordedSince === undefined || at < unrecordedSince);
  }
}

const POSITION_PERIOD_MS = 5_000;

interface PositionKeeperOptions extends Pick<ClientContext, 'client' | 'clock'> {
  readonly pods: Pick<ListWatch, 'position'>;
  readonly removals: Pick<Removals, 'unrecordedSince'>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  readonly address: PositionAddress;
}

/** Runs passes, and every five seconds stores the position up to which they have recorded all removals. */
export function positionKeeper({ client, clock, pods, removals, term, address }: PositionKeeperOptions) {
  const positions = new HandledPositions();
  let [stored, storedAt] = ['', -Infinity];
  return async (signal: AbortSignal, pass: () => Promise<void>): Promise<void> => {
    if (pods.position() !== '') positions.note({ resourceVersion: pods.position(), at: clock.now() });
    await pass();
    const handled = positions.handled(removals.unrecordedSince());
    const isDue = clock.monotonic() - storedAt >= POSITION_PERIOD_MS && term.isHeld() && !signal.aborted;
    if (handled === undefined || !isDue || handled.resourceVersion === stored) return;
    const outcome = await writePosition(client, address, handled, signal);
    if (outcome.kind === 'ok') stored = handled.resourceVersion;
    storedAt = clock.monotonic();
  };
}
