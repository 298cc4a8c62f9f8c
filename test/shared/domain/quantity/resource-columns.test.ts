import { describe, expect, test } from 'vitest';
import { createColumns, nameColumns, toRow } from '#shared/domain/quantity/resource-columns.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';

function amounts(cpu: Whole, memory: Whole): ReadonlyMap<string, Whole> {
  return new Map([
    ['cpu', cpu],
    ['memory', memory],
  ]);
}

describe('toRow', () => {
  test('writes each amount in the column of its resource, and none without', () => {
    const columns = createColumns();
    expect(nameColumns(columns, ['cpu', 'example.com/gpu'])).toBe(true);
    expect(nameColumns(columns, ['cpu', 'example.com/gpu'])).toBe(false);
    expect(toRow(columns, amounts(1, 2))).toEqual([1, 2]);
    expect(toRow(columns, new Map([['memory', 3]]))).toEqual([0, 3]);
    expect(toRow(columns, new Map([['example.com/gpu', 1]]))).toEqual([0, 0, 0, 1]);
    expect(toRow(columns, new Map([['example.com/other', 1]]))).toEqual([]);
  });

  test('gives equal amounts one row', () => {
    const columns = createColumns();
    expect(toRow(columns, amounts(1, 2n ** 60n))).toBe(toRow(columns, amounts(1, 2n ** 60n)));
  });

  test('keeps rows apart that have the same fingerprint', () => {
    const columns = createColumns();
    toRow(columns, amounts(1, 0));
    expect(toRow(columns, amounts(0, 31))).toEqual([0, 31]);
    expect(toRow(columns, amounts(1, 0))).toEqual([1, 0]);
  });

  test('keeps a bounded number of rows', () => {
    const columns = createColumns();
    for (let memory = 0; memory < 25_000; memory += 1) toRow(columns, amounts(1, memory));
    expect(columns.rows.size).toBeLessThanOrEqual(10_000);
  });
});
