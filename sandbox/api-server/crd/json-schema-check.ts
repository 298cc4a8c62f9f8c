import { Ajv, type ErrorObject } from 'ajv';
import {
  type FieldError,
  invalidValue,
  required,
  tooMany,
  unsupported,
  wrongType,
} from '#sandbox/api-server/errors/field-error.ts';
import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';

/** Checks a custom resource against its schema; mistakes in the words of the API server. */
export type SchemaCheck = (object: object) => FieldError[];

/** Compiles a structural schema. Formats are not checked, as Kubernetes ignores those it does not know. */
export function compileSchemaCheck(schema: Fields): SchemaCheck {
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false, verbose: true });
  const validate = ajv.compile(forAjv(schema) as object);
  return (object) => (validate(object) ? [] : (validate.errors ?? []).flatMap(fieldErrors));
}

/** What Kubernetes adds to JSON Schema in words that ajv knows: int-or-string, nullable. */
function forAjv(schema: Fields): unknown {
  const result: Fields = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key.startsWith('x-kubernetes-') || key === 'description' || key === 'default' || key === 'example') continue;
    result[key] = inner(key, value);
  }
  if (schema['x-kubernetes-int-or-string'] === true) result['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
  if (schema['type'] === undefined) Reflect.deleteProperty(result, 'nullable');
  return result;
}

function inner(key: string, value: unknown): unknown {
  if (key === 'properties' && isFields(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, forAjv(one as Fields)]));
  if (['allOf', 'anyOf', 'oneOf'].includes(key) && Array.isArray(value))
    return value.map((one) => forAjv(one as Fields));
  if (['items', 'additionalProperties', 'not'].includes(key) && isFields(value)) return forAjv(value);
  return value;
}

/** `/spec/items/0/name` as `spec.items[0].name`. */
function fieldOf(pointer: string): string {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.map((step, at) => (/^\d+$/.test(step) ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}

function fieldErrors(error: ErrorObject): FieldError[] {
  const field = fieldOf(error.instancePath);
  const params = error.params as Fields;
  const { data } = error;
  switch (error.keyword) {
    case 'required':
      return [required(`${field === '' ? '' : `${field}.`}${String(params['missingProperty'])}`)];
    case 'type':
      return [typeError(field, params['type'], data)];
    case 'enum':
      return [unsupported(field, data, (params['allowedValues'] as unknown[]).map(String))];
    case 'maxItems':
      return [tooMany(field, (data as unknown[]).length, Number(params['limit']))];
    case 'if':
      return [];
    default:
      return [invalidValue(field, data, `${field} in body ${limitText(error.keyword, params, error.message)}`)];
  }
}

/** The value shown is the name of its type, in quotes. */
function typeError(field: string, expected: unknown, data: unknown): FieldError {
  const found = typeName(data);
  return wrongType(field, found, `${field} in body must be of type ${String(expected)}: ${JSON.stringify(found)}`);
}

function typeName(data: unknown): string {
  if (data === null) return 'null';
  if (Array.isArray(data)) return 'array';
  if (typeof data === 'number') return Number.isInteger(data) ? 'integer' : 'number';
  return typeof data === 'object' ? 'object' : typeof data;
}

const LIMIT_TEXTS: Readonly<Record<string, string>> = {
  minimum: 'should be greater than or equal to',
  maximum: 'should be less than or equal to',
  exclusiveMinimum: 'should be greater than',
  exclusiveMaximum: 'should be less than',
  minLength: 'should be at least',
  maxLength: 'should be at most',
  multipleOf: 'should be a multiple of',
};

function limitText(keyword: string, params: Fields, message = ''): string {
  if (keyword === 'pattern') return `should match '${String(params['pattern'])}'`;
  if (keyword === 'minItems') return `should have at least ${String(params['limit'])} items`;
  const words = LIMIT_TEXTS[keyword];
  if (words === undefined) return message;
  const unit = keyword.endsWith('Length') ? ' chars long' : '';
  return `${words} ${String(params['limit'] ?? params['multipleOf'])}${unit}`;
}
