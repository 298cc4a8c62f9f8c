import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import { invalidValue, unsupported, type FieldError } from '#sandbox/api-server/errors/field-error.ts';
import { fieldsAt, isFields, numberAt, omit, textAt, type Fields } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from './api-request.ts';
import { parseObjectBody } from './parse-body.ts';
import { dryRunErrors } from './write-options.ts';

/** How to delete an object. */
export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
  readonly isDryRun: boolean;
  readonly errors: readonly FieldError[];
  /** The options object that webhooks see. */
  readonly wire: Fields;
}

/** Reads DeleteOptions from the body, or from the query if there is no body. Throws 400 if they are invalid. */
export function readDeleteOptions(request: ApiRequest): DeleteOptions {
  return deleteOptionsOf(
    request.body.length > 0 ? bodyOptions(request) : queryOptions(request.query),
    request.query.getAll('dryRun'),
  );
}

function bodyOptions({ body, contentType }: ApiRequest): Fields {
  const { value } = parseObjectBody(body, contentType);
  if (!isFields(value)) throw badRequest('decoded object cannot be converted to DeleteOptions');
  if (value['kind'] !== undefined && value['kind'] !== 'DeleteOptions') {
    throw badRequest(
      `decoded object cannot be converted to DeleteOptions: its kind is ${JSON.stringify(value['kind'])}`,
    );
  }
  return value;
}

function queryOptions(query: URLSearchParams): Fields {
  const grace = query.get('gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: wholeNumber(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
  };
}

function wholeNumber(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw badRequest(`gracePeriodSeconds: cannot parse ${JSON.stringify(text.slice(0, 40))}, expected a whole number`);
}

const POLICIES = ['Orphan', 'Background', 'Foreground'];

/** The options of a fields object, as a body or an Eviction holds it. */
export function deleteOptionsOf(fields: Fields, queryDryRun: readonly string[] = []): DeleteOptions {
  const dryRun = [
    ...queryDryRun.filter((value) => value !== ''),
    ...(Array.isArray(fields['dryRun']) ? fields['dryRun'].map(String) : []),
  ];
  const preconditions = fieldsAt(fields, 'preconditions');
  const propagationPolicy = textAt(fields, 'propagationPolicy') || legacyPolicy(fields);
  return {
    gracePeriodSeconds: numberAt(fields, 'gracePeriodSeconds'),
    propagationPolicy,
    preconditions: {
      ...(typeof preconditions['uid'] === 'string' ? { uid: preconditions['uid'] } : {}),
      ...(typeof preconditions['resourceVersion'] === 'string'
        ? { resourceVersion: preconditions['resourceVersion'] }
        : {}),
    },
    isDryRun: dryRun.length > 0,
    errors: [...dryRunErrors(dryRun), ...policyErrors(propagationPolicy), ...graceErrors(fields)],
    wire: {
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/v1',
      ...omit(fields, 'kind', 'apiVersion', 'dryRun'),
      ...(dryRun.length > 0 ? { dryRun: ['All'] } : {}),
    },
  };
}

function legacyPolicy(fields: Fields): string | undefined {
  if (typeof fields['orphanDependents'] !== 'boolean') return undefined;
  return fields['orphanDependents'] ? 'Orphan' : 'Background';
}

function policyErrors(policy: string | undefined): FieldError[] {
  return policy === undefined || POLICIES.includes(policy) ? [] : [unsupported('propagationPolicy', policy, POLICIES)];
}

function graceErrors(fields: Fields): FieldError[] {
  const value = fields['gracePeriodSeconds'];
  if (value === undefined || value === null || Number.isInteger(value)) return [];
  return [invalidValue('gracePeriodSeconds', value, 'must be a whole number')];
}
