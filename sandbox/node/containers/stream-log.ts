import type { PodLogRequest } from '#sandbox/api-server/operations/server-state.ts';
import type { LogBuffer, LogLine } from './log-buffer.ts';

/** Which part of a log is wanted, and how. */
export type LogRequest = Omit<PodLogRequest, 'pod' | 'container' | 'previous'>;

/** The text of a container's log in pieces; with `follow` until the container or the reader ends. */
export async function* streamLog(buffer: LogBuffer, request: LogRequest, now: number): AsyncGenerator<string> {
  let left = request.limitBytes ?? Infinity;
  let lines = firstLines(buffer, request, now);
  let next = buffer.length;
  for (;;) {
    const text = cut(lines.map((line) => format(line, request.timestamps)).join(''), left);
    left -= Buffer.byteLength(text);
    yield text;
    if (!request.follow || left <= 0) return;
    // More may have come while the reader was busy with this piece.
    if (buffer.length === next && !buffer.isClosed) await buffer.changed(request.signal);
    if (request.signal.aborted || buffer.length === next) return;
    lines = buffer.linesFrom(next);
    next = buffer.length;
  }
}

function firstLines(buffer: LogBuffer, { tailLines, sinceSeconds }: LogRequest, now: number): readonly LogLine[] {
  const since = sinceSeconds === undefined ? -Infinity : now - sinceSeconds * 1000;
  const lines = buffer.linesFrom(0).filter(({ at }) => at >= since);
  return tailLines === undefined ? lines : lines.slice(lines.length - Math.min(tailLines, lines.length));
}

function format({ at, text }: LogLine, withTime: boolean): string {
  return `${withTime ? `${new Date(at).toISOString()} ` : ''}${text}\n`;
}

/** The first `bytes` of a text; demo images write ASCII only. */
function cut(text: string, bytes: number): string {
  return Number.isFinite(bytes) ? Buffer.from(text).subarray(0, bytes).toString() : text;
}
