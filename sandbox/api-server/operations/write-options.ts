import { invalid } from '#sandbox/api-server/errors/errors.ts';
import { invalidValue, unsupported, type FieldError } from '#sandbox/api-server/errors/field-error.ts';
import type { Fields } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from './api-request.ts';

/** Options of a create, update or patch. */
export interface WriteOptions {
  readonly isDryRun: boolean;
  /** The field manager: `fieldManager`, else the first word of the user agent. */
  readonly manager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** The options object that webhooks see. */
  readonly wire: Fields;
}

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const MAX_MANAGER_LENGTH = 128;
const VALIDATIONS = ['Ignore', 'Warn', 'Strict'];

/** Reads the query. Throws 422 for a value that is not offered. */
export function readWriteOptions(request: ApiRequest, kind: OptionsKind): WriteOptions {
  const { query } = request;
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const errors = optionErrors(dryRun, fieldManager, fieldValidation);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', plural: '', kind }, '', errors);
  return {
    isDryRun: dryRun.length > 0,
    manager: fieldManager === '' ? managerOf(request.userAgent) : fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as WriteOptions['fieldValidation']),
    // Webhooks see a patch as the resulting update (or create).
    wire: wireOptions(kind === 'PatchOptions' ? 'UpdateOptions' : kind, dryRun, fieldManager, fieldValidation),
  };
}

function optionErrors(dryRun: readonly string[], fieldManager: string, fieldValidation: string): FieldError[] {
  return [
    ...dryRunErrors(dryRun),
    ...(fieldManager.length > MAX_MANAGER_LENGTH
      ? [invalidValue('fieldManager', fieldManager, `may not be more than ${MAX_MANAGER_LENGTH} bytes`)]
      : []),
    ...(fieldValidation === '' || VALIDATIONS.includes(fieldValidation)
      ? []
      : [unsupported('fieldValidation', fieldValidation, VALIDATIONS)]),
  ];
}

/** Only `All` is known, as in the real server. */
export function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  return dryRun.some((value) => value !== 'All') ? [unsupported('dryRun', dryRun, ['All'])] : [];
}

function wireOptions(kind: string, dryRun: readonly string[], fieldManager: string, fieldValidation: string): Fields {
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...(fieldManager === '' ? {} : { fieldManager }),
    ...(fieldValidation === '' ? {} : { fieldValidation }),
  };
}

/** `kubectl/v1.36.3 (linux/amd64)` becomes `kubectl`. */
function managerOf(userAgent: string): string {
  const name = userAgent.split('/')[0] ?? '';
  return name === '' ? 'unknown' : name.slice(0, MAX_MANAGER_LENGTH);
}
