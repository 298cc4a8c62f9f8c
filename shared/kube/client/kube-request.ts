/** A request to the API server. `body` is sent as JSON, or as it is when it is bytes. */
export interface KubeRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Entries that are undefined or false are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /** For the whole answer, or for a stream until its first byte may come. */
  readonly timeoutMs?: number;
}
