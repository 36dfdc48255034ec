import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOfDay, parseDay } from '#core/bounds/calendar-day.ts';

test('calendar day: lasts from its first moment in UTC to that of the next', () => {
  assert.equal(parseDay('2028-02-29'), Date.UTC(2028, 1, 29));
  assert.equal(endOfDay('2028-02-29'), Date.UTC(2028, 2, 1));
});

test('calendar day: what is no day of the calendar has neither start nor end', () => {
  for (const text of ['', '2027-02-29', '2027-2-1', '2027-01-01T00:00:00Z', '20270101']) {
    assert.equal(parseDay(text), undefined, text);
    assert.equal(endOfDay(text), undefined, text);
  }
});
