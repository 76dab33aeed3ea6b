/** Three jacks and joined cords. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path d="M5 9c0 5 7 2 7 7M19 9c0 5-7 2-7 7" />
      <circle cx="5" cy="6" r="3" />
      <circle cx="19" cy="6" r="3" />
      <circle cx="12" cy="19" r="3" />
    </svg>
  );
}
