import { Buffer } from 'node:buffer';
import { invalid, untypedError, badRequest } from '#sandbox/api-server/errors/errors.ts';
import { forbiddenField, unsupported, type FieldError } from '#sandbox/api-server/errors/field-error.ts';
import { isFields } from '#sandbox/api-server/wire/object.ts';

const MATCHES = ['Exact', 'NotOlderThan', ''];

/** Throws 422 for combinations that a list does not accept. apimachinery `apis/meta/internalversion/validation`. */
export function checkListOptions(query: URLSearchParams): void {
  const errors = [
    ...matchErrors(query),
    ...(query.get('sendInitialEvents') === null
      ? []
      : [forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list')]),
  ];
  refuse(errors);
}

function matchErrors(query: URLSearchParams): FieldError[] {
  const match = query.get('resourceVersionMatch') ?? '';
  const version = query.get('resourceVersion') ?? '';
  if (match === '') return [];
  return [
    ...(version === ''
      ? [forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided')]
      : []),
    ...((query.get('continue') ?? '') === ''
      ? []
      : [forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided')]),
    ...(MATCHES.includes(match) ? [] : [unsupported('resourceVersionMatch', match, MATCHES)]),
    ...(match === 'Exact' && version === '0'
      ? [forbiddenField('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')]
      : []),
  ];
}

/** The same for a watch. */
export function checkWatchOptions(query: URLSearchParams): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const initial = query.get('sendInitialEvents');
  if (initial === null) {
    refuse(
      match === ''
        ? []
        : [
            forbiddenField(
              'resourceVersionMatch',
              'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
            ),
          ],
    );
    return;
  }
  if (match === '')
    refuse([
      forbiddenField('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    ]);
  if (match !== 'NotOlderThan') refuse([unsupported('resourceVersionMatch', match, ['NotOlderThan'])]);
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'ListOptions' }, '', errors);
}

/** `resourceVersion` as a number; undefined if it is not given. Throws 500, as the real server does. */
export function readVersion(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const quoted = JSON.stringify(text.slice(0, 40));
  throw untypedError(`resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`);
}

/** Where a list continues. Clients treat the token as opaque text. */
export interface Continuation {
  /** The revision that the list shows; -1 continues with the current objects. */
  readonly number: number;
  readonly start: string;
}

export function encodeContinue({ number, start }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: 'plimsoll.dev/v1', rv: number, start })).toString('base64url');
}

/** Throws 400 for a token that is not ours. */
export function decodeContinue(token: string): Continuation {
  const value = parse(token);
  if (isFields(value) && Number.isInteger(value['rv']) && typeof value['start'] === 'string') {
    return { number: value['rv'] as number, start: value['start'] };
  }
  throw badRequest('invalid continue token: continue key is not valid');
}

function parse(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return undefined;
  }
}
