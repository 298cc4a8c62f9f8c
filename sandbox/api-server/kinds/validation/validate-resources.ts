import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { compareQuantities, quantitySign, type Quantity } from '#shared/domain/quantity/quantity.ts';
import { type FieldError, invalidValue } from '#sandbox/api-server/errors/field-error.ts';
import { fieldsAt, type Fields } from '#sandbox/api-server/wire/object.ts';

const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Checks requests and limits of a container. `pkg/apis/core/validation/validation.go` ValidateContainerResourceRequirements. */
export function validateResources(resources: Fields, path: string): FieldError[] {
  const limits = fieldsAt(resources, 'limits');
  const requests = fieldsAt(resources, 'requests');
  return [
    ...validateAmounts(limits, `${path}.limits`),
    ...validateAmounts(requests, `${path}.requests`),
    ...Object.keys(requests).flatMap((name) => withinLimit(name, requests[name], limits[name], path)),
  ];
}

/** Names of resources are known or have a prefix; amounts are not negative. */
export function validateAmounts(amounts: Fields, path: string): FieldError[] {
  return Object.entries(amounts).flatMap(([name, value]) => {
    const quantity = read(value);
    const known = STANDARD.has(name) || name.startsWith('hugepages-') || name.includes('/');
    return [
      ...(known
        ? []
        : [
            invalidValue(path, name, 'must be a standard resource type or fully qualified'),
            invalidValue(path, name, 'must be a standard resource for containers'),
          ]),
      ...(quantity !== undefined && quantitySign(quantity) < 0
        ? [invalidValue(`${path}[${name}]`, value, 'must be greater than or equal to 0')]
        : []),
    ];
  });
}

function withinLimit(name: string, request: unknown, limit: unknown, path: string): FieldError[] {
  const asked = read(request);
  const most = read(limit);
  if (asked === undefined || most === undefined) return [];
  if (compareQuantities(asked, most) > 0) {
    return [
      invalidValue(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${String(limit)}`),
    ];
  }
  const mayBeLess = STANDARD.has(name) || compareQuantities(asked, most) === 0;
  return mayBeLess
    ? []
    : [invalidValue(`${path}.requests`, request, `must be equal to ${name} limit of ${String(limit)}`)];
}

function read(value: unknown): Quantity | undefined {
  if (typeof value !== 'string') return undefined;
  const parsed = parseQuantity(value);
  return parsed.ok ? parsed.quantity : undefined;
}
