import { notAcceptable } from '#sandbox/api-server/errors/errors.ts';

/** The forms in which objects can be shown. */
export type Form = 'object' | 'table' | 'metadata';

const ACCEPTED = ['application/json', 'application/yaml'];
const ANY = new Set([
  '',
  '*/*',
  'application/*',
  'application/json',
  'application/yaml',
  'text/html',
  'application/apidiscovery',
]);

/** Chooses the first form of an `Accept` header that is spoken here. Throws 406. */
export function negotiate(accept: string): Form {
  if (accept === '') return 'object';
  for (const choice of accept.split(',')) {
    const form = formOf(choice);
    if (form !== undefined) return form;
  }
  throw notAcceptable(ACCEPTED);
}

function formOf(choice: string): Form | undefined {
  const [mediaType = '', ...parameters] = choice.split(';').map((part) => part.trim());
  if (!ANY.has(mediaType)) return undefined;
  const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice('as='.length);
  if (as === undefined) return 'object';
  if (!parameters.includes('v=v1')) return undefined;
  if (as === 'Table') return 'table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : undefined;
}
