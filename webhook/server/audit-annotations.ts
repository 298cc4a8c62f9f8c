import { crc32 } from 'node:zlib';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { bounded } from './bounded.ts';

const HASH_DIGITS = 8;

/**
 * The audit annotations of an answer; the API server prefixes them with the name of the webhook entry. When a key is
 * set twice for one API request, the API server keeps the first value and logs a warning. So only a single answer uses
 * the keys `decision` and `because`; one of several answers gets a key derived from its content, and a mutation that
 * changes nothing gets no annotation.
 */
export function auditAnnotations(decision: AdmissionDecision): Readonly<Record<string, string>> {
  const { because, oneOf } = decision;
  if (oneOf === undefined) return { decision: because.code, because: bounded(because.text) };
  if (oneOf === 'mutations' && decision.kind === 'allowed' && decision.change === undefined) return {};
  const value = bounded(`${because.code}: ${because.text}`);
  return { [`${KEYS[oneOf]}-${fingerprint(value)}`]: value };
}

const KEYS = { mutations: 'mutation', items: 'item' } as const;

function fingerprint(text: string): string {
  return crc32(text).toString(16).padStart(HASH_DIGITS, '0');
}
