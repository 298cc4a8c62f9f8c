import { describe, expect, test } from 'vitest';
import { failureOf } from '#shared/kube/client/outcome.ts';

describe('failureOf', () => {
  test.each<[number, string, string]>([
    [400, 'BadRequest', 'invalid'],
    [401, 'Unauthorized', 'unauthorized'],
    [403, 'Forbidden', 'forbidden'],
    [404, 'NotFound', 'notFound'],
    [405, 'MethodNotAllowed', 'invalid'],
    [408, 'Timeout', 'timeout'],
    [409, 'AlreadyExists', 'alreadyExists'],
    [409, 'Conflict', 'conflict'],
    [410, 'Expired', 'gone'],
    [413, 'RequestEntityTooLarge', 'invalid'],
    [422, 'Invalid', 'invalid'],
    [429, 'TooManyRequests', 'tooManyRequests'],
    [500, 'InternalError', 'serverError'],
    [503, 'ServiceUnavailable', 'serverError'],
    [504, 'Timeout', 'serverError'],
    [302, '', 'serverError'],
  ])('%d %s is %s', (status, reason, kind) => {
    expect(failureOf(status, { reason, message: 'm' })).toMatchObject({ kind, status, message: 'm' });
  });

  test('reads causes and the wish to be left alone', () => {
    const causes = [{ reason: 'DisruptionBudget', message: 'spent', field: 7 }, null];
    expect(failureOf(429, { message: 'no', details: { causes, retryAfterSeconds: 10 } })).toEqual({
      kind: 'tooManyRequests',
      status: 429,
      message: 'no',
      retryAfterSeconds: 10,
      details: {
        causes: [
          { reason: 'DisruptionBudget', message: 'spent', field: '' },
          { reason: '', message: '', field: '' },
        ],
        retryAfterSeconds: 10,
      },
    });
  });

  test.each<[string, number | undefined]>([
    ['7', 7],
    ['0', 0],
    ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    ['-1', undefined],
    ['1e9', undefined],
  ])('Retry-After "%s" is %s', (header, seconds) => {
    expect(failureOf(503, {}, header).retryAfterSeconds).toBe(seconds);
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'HTTP status 502'],
    ['a page of a proxy', `<html>${'x'.repeat(5_000)}</html>`, `<html>${'x'.repeat(294)}`],
    ['a list', [1], 'HTTP status 502'],
    ['a message that is no text', { message: 7 }, 'HTTP status 502'],
  ])('has a short message for %s', (_, body, message) => {
    expect(failureOf(502, body).message).toBe(message);
  });
});
