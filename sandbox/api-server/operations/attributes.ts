import type { Attributes } from '#sandbox/api-server/admission.ts';
import type { ApiRequest } from './api-request.ts';

/** What differs from one operation to the next. */
type Particulars = Pick<Attributes, 'operation' | 'isDryRun' | 'options' | 'object' | 'previous'> &
  Partial<Pick<Attributes, 'kind' | 'name'>>;

/** A request as admission sees it. For namespaces themselves the namespace is their own name. */
export function attributesOf<P extends Particulars>(
  request: ApiRequest,
  particulars: P,
): Omit<Attributes, keyof P> & P {
  const { type, subresource, namespace, name, user, warnings } = request;
  const isNamespace = type.group === '' && type.plural === 'namespaces';
  return {
    type,
    subresource,
    kind: type,
    namespace: isNamespace ? (particulars.object?.metadata.name ?? name) : namespace,
    name,
    user,
    warn: (text: string) => void warnings.push(text),
    ...particulars,
  };
}
