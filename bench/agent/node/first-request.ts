import { readFileSync } from 'node:fs';
import { eventually } from '#test/build/waiting.ts';

const WITHIN_MS = 60_000;

/**
 * When the API server got the first request whose line in its audit log has all of these words, in milliseconds since
 * 1970. Rejects when there is none within a minute.
 */
export function firstRequest(auditLog: string, words: readonly string[]): Promise<number> {
  return eventually(() => {
    const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
    const first = lines.find((line) => words.every((word) => line.includes(word)));
    if (first === undefined) throw new Error(`no request with ${words.join(', ')}`);
    const { requestReceivedTimestamp } = JSON.parse(first) as { readonly requestReceivedTimestamp: string };
    return Promise.resolve(Date.parse(requestReceivedTimestamp));
  }, WITHIN_MS);
}
