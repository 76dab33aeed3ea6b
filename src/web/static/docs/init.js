// Without a validator badge: the page makes no request to anybody else.
SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null });
