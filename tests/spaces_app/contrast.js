() => {
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
                       return .2126 * r + .7152 * g + .0722 * b; };
  const rgb = text => text.match(/[\d.]+/g).map(Number);
  const paper = light(rgb(getComputedStyle(document.body).backgroundColor));
  let found = {ratio: 99, count: 0};
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement, style = getComputedStyle(element);
    if (!walk.currentNode.data.trim() || element.closest('style, title, desc')) continue;
    const ink = light(rgb(element.closest('svg') ? style.fill : style.color));
    const ratio = (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05);
    found.count += 1;
    if (ratio < found.ratio) found = {...found, ratio, text: walk.currentNode.data, colour: style.color};
  }
  return found; }
