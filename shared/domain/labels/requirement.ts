import { isLabelValue, isQualifiedName } from './label-syntax.ts';

export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const LARGEST = 2n ** 63n;

type Labels = ReadonlyMap<string, string>;

/** True where Kubernetes accepts the requirement. `apimachinery/pkg/labels/selector.go` NewRequirement. */
export function isValidRequirement(requirement: Requirement): boolean {
  if (!isQualifiedName(requirement.key) || !requirement.values.every(isLabelValue)) return false;
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      return requirement.values.length > 0;
    case 'Exists':
    case 'DoesNotExist':
      return requirement.values.length === 0;
    case 'Gt':
    case 'Lt':
      return requirement.values.length === 1 && requirement.values.every((value) => parseInteger(value) !== undefined);
    default:
      return false;
  }
}

/** True where the labels meet a valid requirement. `apimachinery/pkg/labels/selector.go` Requirement.Matches. */
export function meetsRequirement(labels: Labels, requirement: Requirement): boolean {
  const value = labels.get(requirement.key);
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values.includes(value);
    case 'NotIn':
      return value === undefined || !requirement.values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return meetsComparison(value, requirement);
  }
}

function meetsComparison(value: string | undefined, requirement: Requirement): boolean {
  const left = parseInteger(value ?? '');
  const right = parseInteger(requirement.values[0] ?? '');
  if (left === undefined || right === undefined) return false;
  return requirement.operator === 'Gt' ? left > right : left < right;
}

/** A decimal integer of 64 bits with an optional sign, as Go's `strconv.ParseInt` reads it. */
function parseInteger(text: string): bigint | undefined {
  const digits = text.startsWith('-') || text.startsWith('+') ? text.slice(1) : text;
  if (digits.length === 0 || digits.length > LONGEST_INTEGER || !isDigits(digits)) return undefined;
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits);
  return value >= -LARGEST && value < LARGEST ? value : undefined;
}

/** Label values are no longer. */
const LONGEST_INTEGER = 63;

function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}
