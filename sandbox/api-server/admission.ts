import type { Fields, KubeObject } from './wire/object.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';

/** One request as admission sees it. */
export interface Attributes extends Pick<ApiRequest, 'type' | 'subresource' | 'namespace' | 'name' | 'user'> {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** The kind of `object`, which for an eviction is not the resource's. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly isDryRun: boolean;
  readonly options: Fields;
  readonly object: KubeObject | undefined;
  readonly previous: KubeObject | undefined;
  readonly warn: (text: string) => void;
}

/** The two phases through which every write goes. Both throw a StatusError to refuse. */
export interface Admission {
  /** Returns the object after every plugin and webhook that may change it. */
  readonly mutate: (attributes: Attributes) => Promise<KubeObject | undefined>;
  /** The last step (quota) runs in the turn of the event loop in which the returned function is called: just before storing. */
  readonly validate: (attributes: Attributes) => Promise<() => void>;
}
