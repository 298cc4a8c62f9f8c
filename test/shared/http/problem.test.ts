import express from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { problemHandler, RequestProblem } from '#shared/http/problem.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { createLog } from '#shared/runtime/log.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function post(
  path: string,
  body: string,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
) {
  const logged: string[] = [];
  const log = createLog({
    component: 'test',
    level: 'info',
    format: 'json',
    destination: { write: (line) => void logged.push(line) },
  });
  const app = express().use(express.json({ limit: 100, inflate: false }));
  app.post('/conflict', () => {
    throw new RequestProblem(409, 'the object was changed');
  });
  app.post('/bug', () => Promise.reject(new Error('secret detail')));
  app.post('/echo', (request, response) => void response.json(request.body));
  app.use(problemHandler(log));
  server = await serve({ handler: app, host: '127.0.0.1', port: 0 });
  const response = await fetch(`${server.url}${path}`, { method: 'POST', body, headers });
  const { code, reason, message } = (await response.json()) as Record<string, unknown>;
  return { status: response.status, code, reason, message, logged: logged.length };
}

describe('problemHandler', () => {
  const cases: Record<string, { path: string; body: string; answer: Record<string, unknown> }> = {
    'keeps the message of a problem meant for the caller': {
      path: '/conflict',
      body: '{}',
      answer: { status: 409, code: 409, reason: 'Conflict', message: 'the object was changed', logged: 0 },
    },
    'says nothing about an unexpected error, and logs it': {
      path: '/bug',
      body: '{}',
      answer: { status: 500, code: 500, reason: 'InternalError', message: 'Internal error', logged: 1 },
    },
    'answers malformed JSON with 400 and echoes nothing': {
      path: '/echo',
      body: '{"x": <b>',
      answer: { status: 400, code: 400, reason: 'BadRequest', message: 'Request body is not valid JSON', logged: 0 },
    },
    'answers a large body with 413': {
      path: '/echo',
      body: JSON.stringify('x'.repeat(200)),
      answer: {
        status: 413,
        code: 413,
        reason: 'RequestEntityTooLarge',
        message: 'Request body is too large',
        logged: 0,
      },
    },
  };
  test.each(Object.entries(cases))('%s', async (_, { path, body, answer }) => {
    expect(await post(path, body)).toEqual(answer);
  });

  test('refuses compressed bodies', async () => {
    const answer = await post('/echo', 'x', { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
    expect(answer.status).toBe(415);
  });
});
