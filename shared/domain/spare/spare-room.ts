/*
 * Which pods run in spare room, and what they request there. A pod does if its spec names the resources: nothing else
 * about it, such as an annotation, can be trusted or stays as it is.
 */
import type { Container, Pod, PodSpec, Resources } from '#shared/domain/pod/pod.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import {
  type Amounts,
  NO_AMOUNTS,
  type Quantity,
  quantityMilliValue,
  quantitySign,
  quantityValue,
  ZERO,
} from '#shared/domain/quantity/quantity.ts';
import { type BySpareKind, SPARE_KINDS, SPARE_RESOURCES, type SpareKind } from './spare-resources.ts';

/** What a pod may be made of for these questions. */
type WithSpec = { readonly spec: Pick<PodSpec, 'containers' | 'initContainers' | 'resources'> };

/** Whether the pod names spare room, in any amount. */
export function usesSpareRoom({ spec }: WithSpec): boolean {
  return [...spec.containers, ...spec.initContainers].some(({ resources: { requests, limits } }) =>
    SPARE_KINDS.some((kind) => requests?.has(SPARE_RESOURCES[kind]) === true || limits?.has(SPARE_RESOURCES[kind])),
  );
}

/** Whether the pod requests cpu or memory of the node, besides its overhead, which its RuntimeClass fixes. */
export function requestsNodeRoom({ spec }: WithSpec): boolean {
  const parts = [...spec.containers, ...spec.initContainers].map(({ resources }) => resources);
  return [...parts, ...(spec.resources === undefined ? [] : [spec.resources])].some(({ requests }) =>
    SPARE_KINDS.some((kind) => statedIn(requests, kind) !== undefined),
  );
}

/** What one container requests of spare room in place of its requests. */
export type SpareAmounts = Partial<BySpareKind<Quantity>>;

/** How a pod is moved to spare room. */
export interface SpareMove {
  /** One for each container, in the order of the pod. */
  readonly containers: readonly SpareAmounts[];
  readonly initContainers: readonly SpareAmounts[];
  /** Requests of the pod as a whole, which become those of its first container: the pod itself may not name others. */
  readonly ofPod: readonly SpareKind[];
  /** What was requested, for people: JSON by container, that of the whole pod under `*`. */
  readonly requested: string;
}

/** The move of a pod that requests room of its node; `undefined` if it requests none, or names spare room itself. */
export function moveToSpareRoom(pod: WithSpec): SpareMove | undefined {
  if (usesSpareRoom(pod) || !requestsNodeRoom(pod)) return undefined;
  const { containers, initContainers, resources } = pod.spec;
  const whole = amountsIn(resources?.requests);
  const ofPod = SPARE_KINDS.filter((kind) => whole[kind] !== undefined);
  const own = ({ resources: { requests } }: Container): SpareAmounts => without(amountsIn(requests), ofPod);
  return {
    containers: containers.map((each, index) => (index === 0 ? { ...own(each), ...whole } : own(each))),
    initContainers: initContainers.map(own),
    ofPod,
    requested: requestedText([
      ...[...containers, ...initContainers].map((each) => [each.name, each.resources.requests] as const),
      ['*', resources?.requests],
    ]),
  };
}

/** The pod as it is stored after the move. */
export function inSpareRoom(pod: Pod, move: SpareMove): Pod {
  const { containers, initContainers, resources } = pod.spec;
  const spec = {
    ...pod.spec,
    containers: containers.map((each, index) => moved(each, move.containers[index])),
    initContainers: initContainers.map((each, index) => moved(each, move.initContainers[index])),
    resources: resources && { ...resources, requests: withZeros(resources.requests, move.ofPod) },
  };
  return { ...pod, spec };
}

/** The amounts under the names of their resources. */
export function spareEntries(amounts: SpareAmounts): readonly (readonly [resource: string, amount: Quantity])[] {
  return SPARE_KINDS.flatMap((kind) => {
    const amount = amounts[kind];
    return amount === undefined ? [] : [[SPARE_RESOURCES[kind], amount] as const];
  });
}

/** Explicit zeros, so that neither limits nor a LimitRange become requests. */
function moved(container: Container, amounts: SpareAmounts = {}): Container {
  const { requests, limits } = container.resources;
  const spare = spareEntries(amounts);
  const resources: Resources = {
    requests: new Map([...withZeros(requests, SPARE_KINDS), ...spare]),
    limits: spare.length === 0 ? limits : new Map([...(limits ?? []), ...spare]),
  };
  return { ...container, resources };
}

function withZeros(requests: Amounts = NO_AMOUNTS, kinds: readonly SpareKind[]): Amounts {
  return new Map([...requests, ...kinds.map((kind) => [kind, ZERO] as const)]);
}

function without(amounts: SpareAmounts, kinds: readonly SpareKind[]): SpareAmounts {
  return Object.fromEntries(Object.entries(amounts).filter(([kind]) => !kinds.some((each) => each === kind)));
}

/** Extended resources are whole: bytes, and thousandths of a CPU. */
function amountsIn(requests: Amounts | undefined): SpareAmounts {
  const [memory, cpu] = [statedIn(requests, 'memory'), statedIn(requests, 'cpu')];
  return {
    ...(memory !== undefined && { memory: wholeAmount(quantityValue(memory)) }),
    ...(cpu !== undefined && { cpu: wholeAmount(quantityMilliValue(cpu)) }),
  };
}

/** More than any node has, and the most that the API server's expressions can write. */
export const MAX_AMOUNT = 9_000_000_000_000_000_000n;

function wholeAmount(amount: Quantity['mantissa']): Quantity {
  return { ...ZERO, mantissa: amount > MAX_AMOUNT ? MAX_AMOUNT : amount };
}

function statedIn(requests: Amounts | undefined, kind: SpareKind): Quantity | undefined {
  const amount = requests?.get(kind);
  return amount !== undefined && quantitySign(amount) > 0 ? amount : undefined;
}

/** Always in this order, as the API server writes it too. */
const SHOWN = ['cpu', 'memory'] as const satisfies readonly SpareKind[];

function requestedText(parts: readonly (readonly [name: string, requests: Amounts | undefined])[]): string {
  const shown = parts.flatMap(([name, requests]) => {
    const amounts = SHOWN.flatMap((kind) => {
      const amount = statedIn(requests, kind);
      return amount === undefined ? [] : [`"${kind}":"${formatQuantity(amount)}"`];
    });
    return amounts.length === 0 ? [] : [`"${name}":{${amounts.join(',')}}`];
  });
  return `{${shown.join(',')}}`;
}
