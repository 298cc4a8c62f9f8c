import { describe, expect, test } from 'vitest';
import { isLabelValue, isQualifiedName } from '#shared/domain/labels/label-selector.ts';

describe('isQualifiedName', () => {
  test.each([
    ['app', true],
    ['A-b_c.9', true],
    ['example.com/app', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['', false],
    ['-app', false],
    ['app.', false],
    ['a b', false],
    ['/app', false],
    ['example.com/', false],
    ['a/b/c', false],
    ['Example.com/app', false],
    ['-example.com/app', false],
    ['example-.com/app', false],
    ['example..com/app', false],
    [`${'a'.repeat(253)}/app`, true],
    [`${'a'.repeat(254)}/app`, false],
  ])('%s: %s', (text, valid) => {
    expect(isQualifiedName(text)).toBe(valid);
  });
});

describe('isLabelValue', () => {
  test.each([
    ['', true],
    ['v1.2_3-x', true],
    ['a/b', false],
    ['é', false],
  ])('%s: %s', (text, valid) => {
    expect(isLabelValue(text)).toBe(valid);
  });
});
