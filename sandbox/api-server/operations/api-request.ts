import type { ResourceType, SubresourceName } from '#sandbox/api-server/resource-type.ts';

/** The user; `extra` as in a TokenReview. */
export interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** One request about objects, read from its URL and headers; the body is still bytes. */
export interface ApiRequest {
  readonly method: string;
  readonly user: User;
  readonly type: ResourceType;
  /** Empty for cluster-scoped kinds and for lists over all namespaces. */
  readonly namespace: string;
  /** Empty for collections, and while a generated name is unknown. */
  readonly name: string;
  readonly subresource: SubresourceName | '';
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly accept: string;
  readonly userAgent: string;
  readonly body: Buffer;
  /** Collects the texts of `Warning` headers. */
  readonly warnings: string[];
}
