import { ANNOTATION_CONFIRMED_GENERATION } from '#shared/kube/api-names.ts';
import { readSelector } from '#shared/kube/decode/decode-scheduling.ts';
import {
  type Decoded,
  decodeObject,
  readInteger,
  readObject,
  readText,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';
import { quote } from '#shared/domain/model/texts.ts';
import type { AgentPolicy } from './policy.ts';
import { policyOfSpec } from './policy-of-spec.ts';
import { readSpec } from './read-spec.ts';
import type { NodePressurePolicySpec } from './spec.ts';

/** A NodePressurePolicy: its spec as it is written, and what the agent decides by. */
export interface NodePolicy {
  readonly spec: NodePressurePolicySpec;
  readonly policy: AgentPolicy;
}

/** Reads the wire form; an unknown field is ignored, an invalid value is refused with the path of its field. */
export function decodePolicy(raw: KubeObject): Decoded<NodePolicy> {
  const identity = identityOf(raw);
  return decodeSpec(raw, (wire) => {
    const spec = readSpec(wire);
    return { spec, policy: { ...policyOfSpec(spec), ...identity } };
  });
}

/** Which nodes a policy selects and its order, also for a policy that cannot be read as a whole. */
export interface PolicyScope {
  readonly nodeSelector: LabelSelector | undefined;
  readonly order: number;
}

/** Reads the scope alone. */
export function decodeScope(raw: KubeObject): Decoded<PolicyScope> {
  return decodeSpec(raw, (spec) => ({
    nodeSelector: readSelector(spec, 'nodeSelector'),
    order: readInteger(spec, 'order') ?? 0,
  }));
}

/** Reads `spec.avoidFor` alone, in milliseconds; `undefined` where it is not set. */
export function decodeAvoidFor(raw: KubeObject): Decoded<number | undefined> {
  return decodeSpec(raw, (spec) => {
    const text = readText(spec, 'avoidFor');
    if (text === undefined) return undefined;
    const parsed = parseDuration(text);
    if (!parsed.ok) return refuseField('avoidFor', parsed.message);
    if (parsed.nanoseconds < 0n) return refuseField('avoidFor', `it is negative: ${quote(text)}`);
    return durationSeconds(parsed.nanoseconds) * 1000;
  });
}

/** Reads the spec with `read`; an object without one has an empty one. */
function decodeSpec<T>(raw: KubeObject, read: (spec: WireObject) => T): Decoded<T> {
  return decodeObject({ ...raw, spec: raw['spec'] ?? {} }, (object) => readObject(object, 'spec', read) as T);
}

function identityOf({ metadata }: KubeObject): Pick<AgentPolicy, 'name' | 'generation' | 'confirmedGeneration'> {
  const confirmed = metadata.annotations?.[ANNOTATION_CONFIRMED_GENERATION] ?? '';
  return {
    name: metadata.name ?? '',
    generation: metadata.generation ?? 0,
    confirmedGeneration: /^\d{1,15}$/.test(confirmed) ? Number(confirmed) : undefined,
  };
}
