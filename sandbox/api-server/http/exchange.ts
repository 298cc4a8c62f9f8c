import type { ServerResponse } from 'node:http';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';

/** One request about objects with what is needed to answer it. */
export interface Exchange {
  readonly server: ServerState;
  readonly request: ApiRequest;
  readonly response: ServerResponse;
}
