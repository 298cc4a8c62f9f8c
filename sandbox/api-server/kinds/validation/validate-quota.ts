import { isDeepStrictEqual } from 'node:util';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityMilliValue, quantitySign } from '#shared/domain/quantity/quantity.ts';
import { type FieldError, invalidValue, required } from '#sandbox/api-server/errors/field-error.ts';
import {
  fieldsAt,
  listAt,
  scalarText,
  textAt,
  textsAt,
  type Fields,
  type KubeObject,
} from '#sandbox/api-server/wire/object.ts';

const COUNTED = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
];
const COMPUTE = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];
const STORAGE = ['ephemeral-storage', 'requests.storage', 'requests.ephemeral-storage', 'limits.ephemeral-storage'];
const STANDARD = new Set([...COUNTED, ...COMPUTE, ...STORAGE]);

const POD_RESOURCES = ['pods', ...COMPUTE];
const SCOPE_RESOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  ['BestEffort', ['pods']],
  ...['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'].map(
    (scope) => [scope, POD_RESOURCES] as const,
  ),
  ['VolumeAttributesClass', ['persistentvolumeclaims', 'requests.storage']],
]);

const CONFLICTING = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

/** Checks a ResourceQuota. `pkg/apis/core/validation/validation.go` ValidateResourceQuotaSpec. */
export function validateQuota(quota: KubeObject): FieldError[] {
  const spec = fieldsAt(quota, 'spec');
  const hard = fieldsAt(spec, 'hard');
  return [
    ...Object.entries(hard).flatMap(([name, value]) => validateHard(name, value)),
    ...validateScopes(spec, textsAt(spec, 'scopes')),
    ...validateSelector(fieldsAt(spec, 'scopeSelector'), Object.keys(hard)),
  ];
}

/** `spec.scopes` never changes; `spec.scopeSelector` may. */
export function validateQuotaUpdate(next: KubeObject, previous: KubeObject): FieldError[] {
  const scopes = textsAt(fieldsAt(next, 'spec'), 'scopes');
  const isKept = isDeepStrictEqual(scopes.toSorted(), textsAt(fieldsAt(previous, 'spec'), 'scopes').toSorted());
  return [...validateQuota(next), ...(isKept ? [] : [invalidValue('spec.scopes', scopes, 'field is immutable')])];
}

function validateHard(name: string, value: unknown): FieldError[] {
  const field = `spec.hard[${name}]`;
  const unknown =
    STANDARD.has(name) || name.includes('/')
      ? []
      : [invalidValue(field, name, 'must be a standard resource for quota')];
  const parsed = parseQuantity(scalarText(value));
  if (!parsed.ok) return unknown;
  const isNegative = quantitySign(parsed.quantity) < 0;
  const isFraction = COUNTED.includes(name) && BigInt(quantityMilliValue(parsed.quantity)) % 1000n !== 0n;
  return [
    ...unknown,
    ...(isNegative ? [invalidValue(field, value, 'must be greater than or equal to 0')] : []),
    ...(isFraction ? [invalidValue(field, value, 'must be an integer')] : []),
  ];
}

function validateScopes(spec: Fields, scopes: readonly string[]): FieldError[] {
  const field = 'spec.scopes';
  const names = Object.keys(fieldsAt(spec, 'hard'));
  return [
    ...scopes
      .filter((scope) => !SCOPE_RESOURCES.has(scope))
      .map(() => invalidValue(field, scopes, 'unsupported scope')),
    ...scopes
      .filter((scope) => isMisapplied(scope, names))
      .map(() => invalidValue(field, scopes, 'unsupported scope applied to resource')),
    ...conflicts(scopes).map(() => invalidValue(field, scopes, 'conflicting scopes')),
  ];
}

/** A scope restricts which of the standard resources may be limited. */
function isMisapplied(scope: string, names: readonly string[]): boolean {
  const allowed = SCOPE_RESOURCES.get(scope);
  return names.some((name) => STANDARD.has(name) && allowed?.includes(name) !== true);
}

function conflicts(scopes: readonly string[]): readonly (readonly string[])[] {
  return CONFLICTING.filter((pair) => pair.every((scope) => scopes.includes(scope)));
}

function validateSelector(selector: Fields, names: readonly string[]): FieldError[] {
  const field = 'spec.scopeSelector.matchExpressions';
  const terms = listAt(selector, 'matchExpressions');
  const scopes = terms.map((term) => textAt(term, 'scopeName'));
  return [
    ...terms.flatMap((term) => validateTerm(term, selector, names)),
    ...conflicts(scopes).map(() => invalidValue(field, scopes, 'conflicting scopes')),
  ];
}

const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function validateTerm(term: Fields, selector: Fields, names: readonly string[]): FieldError[] {
  const field = 'spec.scopeSelector.matchExpressions';
  const scope = textAt(term, 'scopeName');
  const operator = textAt(term, 'operator');
  const needsExists = SCOPE_RESOURCES.has(scope) && scope !== 'PriorityClass' && scope !== 'VolumeAttributesClass';
  return [
    ...(SCOPE_RESOURCES.has(scope) ? [] : [invalidValue(`${field}.scopeName`, scope, 'unsupported scope')]),
    ...(isMisapplied(scope, names) ? [invalidValue(field, selector, 'unsupported scope applied to resource')] : []),
    ...(needsExists && operator !== 'Exists' ? [invalidValue(`${field}.operator`, operator, ONLY_EXISTS)] : []),
    ...validateValues(operator, textsAt(term, 'values'), field),
  ];
}

function validateValues(operator: string, values: readonly string[], field: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? []
        : [
            required(
              `${field}.values`,
              "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
          ];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [
            invalidValue(
              `${field}.values`,
              values,
              "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            ),
          ];
    default:
      return [invalidValue(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}
