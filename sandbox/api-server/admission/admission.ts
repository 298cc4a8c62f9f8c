import type { Fields, KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { ResourceType, SubresourceName } from '#sandbox/api-server/kinds/resource-type.ts';
import type { User } from '#sandbox/api-server/operations/api-request.ts';

/** One request as admission sees it. */
export interface Attributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly type: ResourceType;
  readonly subresource: SubresourceName | '';
  /** The kind of `object`, which for an eviction is not the resource's. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly namespace: string;
  /** Empty while a generated name is not known, and in deletes of collections. */
  readonly name: string;
  readonly user: User;
  readonly isDryRun: boolean;
  readonly options: Fields;
  readonly object: KubeObject | undefined;
  readonly previous: KubeObject | undefined;
  readonly warn: (text: string) => void;
}

/** The two phases through which every write goes. Both throw a StatusError to refuse. */
export interface Admission {
  /** Returns the object as it is after all who may change it. */
  readonly mutate: (attributes: Attributes) => Promise<KubeObject | undefined>;
  /** The last step (quota) runs in the turn of the event loop in which the returned function is called: just before storing. */
  readonly validate: (attributes: Attributes) => Promise<() => void>;
}
