import type { Request, Response } from 'express';
import { RequestProblem } from '#shared/http/problem.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Viewer } from './access/viewer.ts';
import type { DashboardSources } from './sources.ts';

/** What routes need that read from the API server when a viewer asks. */
export interface OnRequestOptions<S extends keyof DashboardSources = keyof DashboardSources> {
  readonly sources: Pick<DashboardSources, S>;
  /** Rejects with a RequestProblem if the caller may see nothing. */
  readonly viewerOf: (request: Request, response: Response) => Promise<Viewer>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Runs at most `most` reads at once, for all users together; further ones reject with a 503 of this message. */
export function limited(most: number, message: string): <T>(read: () => Promise<T>) => Promise<T> {
  let running = 0;
  return async (read) => {
    if (running >= most) throw new RequestProblem(503, message);
    running += 1;
    try {
      return await read();
    } finally {
      running -= 1;
    }
  };
}

/** Sends JSON that no cache keeps. */
export function send(response: Response, answer: object): void {
  response.set('cache-control', 'no-store').json(answer);
}
