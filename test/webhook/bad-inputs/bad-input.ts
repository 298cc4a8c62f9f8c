import { createPodReview, pod, type Raw } from '#test/webhook/support/reviews.ts';

/** The expected answer: an HTTP status code, and the content for a review. */
export interface Expected {
  readonly status: number;
  readonly allowed?: boolean;
  readonly code?: number;
  /** Of the patch; `undefined` does not look. */
  readonly operations?: number;
  /** Broken HTTP is answered by a status line alone. */
  readonly isBare?: boolean;
}

/** One input that no well-behaved caller sends; its id names it in the titles of tests. */
export interface BadInput {
  readonly id: string;
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly expected: Expected;
  /** Of the process, in milliseconds: 500 where the list says that the input is large. */
  readonly cpuMs: number;
}

export const REFUSED: Expected = { status: 400 };
export const TOO_LARGE: Expected = { status: 413 };
export const DENIED_400: Expected = { status: 200, allowed: false, code: 400 };
export const DENIED_403: Expected = { status: 200, allowed: false, code: 403 };
export const DENIED_409: Expected = { status: 200, allowed: false, code: 409 };
/** A review that is too large, where one that is not read would be let in. */
export const DENIED_413: Expected = { status: 200, allowed: false, code: 413 };
export const ALLOWED: Expected = { status: 200, allowed: true };

export const PODS: Raw = { group: '', version: 'v1', resource: 'pods' };
/** A pod with these agrees with class `standard`. */
export const FITTING = { priorityClassName: 'standard', priority: 100, preemptionPolicy: 'PreemptLowerPriority' };

/** An input for `POST /mutate` unless said otherwise. */
export function badInput(
  id: string,
  what: string,
  body: string | Buffer,
  expected: Expected,
  more: Partial<BadInput> = {},
): BadInput {
  const usual = { method: 'POST', path: '/mutate', headers: { 'Content-Type': 'application/json' }, cpuMs: 50 };
  return { id, what, body, expected, ...usual, ...more };
}

/** A review that creates a pod with this spec. */
export function spec(more: Raw): string {
  return createPodReview(pod(more));
}

/** A review that creates a fitting pod with this in its metadata. */
export function metadata(more: Raw): string {
  return createPodReview(pod(FITTING, more));
}

/** A pod with a raw piece of JSON in its spec: numbers that no JavaScript value can hold. */
export function rawSpec(piece: string): string {
  return spec({ marker: 'HERE' }).replace('"marker":"HERE"', piece);
}

export function reviewText(request: string): string {
  return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":${request}}`;
}
