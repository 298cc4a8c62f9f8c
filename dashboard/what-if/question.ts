import { ACTING_SIGNALS, type ActingSignal, type StarvedResource, resourceOf } from '#shared/domain/pressure/signal.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { Threshold } from '#shared/domain/pressure/threshold.ts';
import { subdomainFaults } from '#shared/domain/labels/label-selector.ts';
import { quote } from '#shared/domain/base/texts.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { type Quantity, quantitySign } from '#shared/domain/quantity/quantity.ts';
import { type Decoded, decodeObject, refuseField } from '#shared/kube/decode/wire-object.ts';

/** Query parameters as the HTTP server reads them: a repeated name has a list. */
export type Query = Readonly<Record<string, unknown>>;

/** What a node would do with less of a resource available, or with another threshold. */
export interface PressureAsked {
  readonly node: string;
  readonly signal: ActingSignal;
  /** `undefined`: the amount that the agent reported last. */
  readonly available: Quantity | undefined;
  /** Replaces the policy's threshold of that kind; `undefined` keeps the policy unchanged. */
  readonly threshold: Threshold | undefined;
}

/** What would happen with one more pod that can only run on this node. */
export interface PodAsked {
  readonly node: string;
  /** As the viewer wrote them: requests of its only container. */
  readonly requests: Readonly<Record<string, string>>;
  /** Empty: the default class. */
  readonly priorityClass: string;
}

const MAX_NAME_LENGTH = 253;
const MAX_AMOUNT_LENGTH = 64;
const KINDS = ['hard', 'soft'] as const;
const SOFT_GRACE = '30s';
const EXAMPLES: Readonly<Record<string, string>> = { memory: '1Gi', pids: '1000', cpu: '500m' };

/** Reads `node`, `signal`, `available`, `kind` and `threshold`. */
export function pressureAsked(query: Query): Decoded<PressureAsked> {
  return decodeObject(query, () => {
    refuseOthers(query, ['node', 'signal', 'available', 'kind', 'threshold']);
    const signal = choiceOf(query, 'signal', ACTING_SIGNALS, 'memory.available');
    return {
      node: nodeOf(query),
      signal,
      available: amountOf(query, 'available', resourceOf(signal)),
      threshold: thresholdOf(query, signal),
    };
  });
}

/** Reads `node`, `cpu`, `memory` and `priorityClass`. */
export function podAsked(query: Query): Decoded<PodAsked> {
  return decodeObject(query, () => {
    refuseOthers(query, ['node', 'cpu', 'memory', 'priorityClass']);
    const written = (['cpu', 'memory'] as const).map((name) => [name, textOf(query, name, MAX_AMOUNT_LENGTH)] as const);
    for (const [name] of written) amountOf(query, name, name);
    return {
      node: nodeOf(query),
      requests: Object.fromEntries(written.filter(([, text]) => text !== '')),
      priorityClass: textOf(query, 'priorityClass', MAX_NAME_LENGTH),
    };
  });
}

function refuseOthers(query: Query, known: readonly string[]): void {
  const other = Object.keys(query).find((name) => !known.includes(name));
  if (other !== undefined)
    refuseField(other.slice(0, MAX_AMOUNT_LENGTH), `unknown parameter; there are ${known.join(', ')}`);
}

function textOf(query: Query, field: string, longest: number): string {
  const value = Object.hasOwn(query, field) ? query[field] : '';
  if (typeof value !== 'string') return refuseField(field, 'expected one value');
  const text = value.trim();
  if (text.length > longest) return refuseField(field, `expected at most ${longest} characters, got ${text.length}`);
  return text;
}

function nodeOf(query: Query): string {
  const name = textOf(query, 'node', MAX_NAME_LENGTH);
  if (subdomainFaults(name).length === 0) return name;
  return refuseField('node', `expected the name of a node, got ${quote(name)}`);
}

function choiceOf<T extends string>(query: Query, field: string, choices: readonly T[], usual: T): T {
  const text = textOf(query, field, MAX_AMOUNT_LENGTH);
  if (text === '') return usual;
  const found = choices.find((each) => each === text);
  if (found !== undefined) return found;
  return refuseField(field, `expected ${choices.join(', ')}, got ${quote(text)}`);
}

function amountOf(query: Query, field: string, resource: StarvedResource): Quantity | undefined {
  const text = textOf(query, field, MAX_AMOUNT_LENGTH);
  if (text === '') return undefined;
  const parsed = parseQuantity(text);
  if (parsed.ok && quantitySign(parsed.quantity) >= 0) return parsed.quantity;
  return refuseField(field, `expected a quantity such as ${EXAMPLES[resource] ?? '1'}, got ${quote(text)}`);
}

/** The threshold as in a policy, validated by the kubelet's own rules. */
function thresholdOf(query: Query, signal: ActingSignal): Threshold | undefined {
  const kind = choiceOf(query, 'kind', KINDS, 'hard');
  const text = textOf(query, 'threshold', MAX_AMOUNT_LENGTH);
  if (text === '') return undefined;
  const table = { [signal]: text };
  const parsed = parseThresholds(
    kind === 'hard'
      ? { evictionHard: table }
      : { evictionSoft: table, evictionSoftGracePeriod: { [signal]: SOFT_GRACE } },
  );
  if (!parsed.ok) return refuseField('threshold', parsed.mistakes.join('; '));
  const [threshold] = parsed.thresholds;
  if (threshold !== undefined) return threshold;
  return refuseField('threshold', `expected an amount or a percentage between 0% and 100%, got ${quote(text)}`);
}
